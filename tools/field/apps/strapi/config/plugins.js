module.exports = () => ({ 'users-permissions': { config: { jwtSecret: 'fieldfieldfieldfieldfieldfield12' } } });
