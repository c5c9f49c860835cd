module.exports = ({ env }) => ({
  host: '127.0.0.1',
  port: env.int('PORT'),
  url: env('FIELD_URL'),
  proxy: { koa: true },
  app: { keys: ['field1', 'field2'] },
});
