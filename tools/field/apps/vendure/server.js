// The server (or, with "worker", the worker) as @vendure/create makes it, less mail and the admin's pages.
const { bootstrap, bootstrapWorker, DefaultJobQueuePlugin, DefaultLogger, DefaultSchedulerPlugin, DefaultSearchPlugin, LogLevel,
  dummyPaymentHandler } = require('@vendure/core');

exports.config = {
  apiOptions: { hostname: '127.0.0.1', port: +process.env.PORT, adminApiPath: 'admin-api', shopApiPath: 'shop-api', trustProxy: 1 },
  authOptions: { tokenMethod: ['bearer', 'cookie'], superadminCredentials: { identifier: 'owner', password: 'fieldfield' },
    cookieOptions: { secret: 'field' } },
  dbConnectionOptions: { type: 'mariadb', synchronize: process.env.SEED === '1', logging: false, database: 'vendure',
    host: '127.0.0.1', port: +process.env.MYSQL, username: 'vendure', password: 'field' },
  paymentOptions: { paymentMethodHandlers: [dummyPaymentHandler] },
  customFields: {},
  logger: new DefaultLogger({ level: LogLevel.Warn }),
  plugins: [DefaultSchedulerPlugin.init(), DefaultJobQueuePlugin.init({ useDatabaseForBuffer: true }),
    DefaultSearchPlugin.init({ bufferUpdates: false, indexStockStatus: true })],
};

if (require.main === module) {
  const start = process.argv[2] === 'worker' ? bootstrapWorker(exports.config).then(w => w.startJobQueue()) : bootstrap(exports.config);
  start.catch(err => { console.error(err); process.exit(1); });
}
