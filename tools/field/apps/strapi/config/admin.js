module.exports = () => ({
  serveAdminPanel: false,
  auth: { secret: 'field' },
  apiToken: { salt: 'field' },
  transfer: { token: { salt: 'field' } },
  secrets: { encryptionKey: 'fieldfieldfieldfieldfieldfield12' },
});
