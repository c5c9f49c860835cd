module.exports = ({ env }) => ({
  connection: {
    client: 'mysql',
    connection: { host: '127.0.0.1', port: env.int('MYSQL'), database: 'strapi', user: 'strapi', password: 'field' },
    pool: { min: 2, max: 10 },
  },
});
