// A server of Node.js whose statements carry their endpoint as a comment.
const http = require('http');
const mysql = require('mysql2/promise');

const db = mysql.createPool({
  host: '127.0.0.1', port: Number(process.env.PORT), user: process.env.USER_NAME, password: process.env.PASSWORD,
  connectionLimit: 8,
});

const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

const handlers = {
  '/one': (tag) => db.query(tag + 'SELECT 1 + 1'),
  '/posts': async (tag) => {
    await db.query(tag + 'SELECT 20 AS posts');
    for (let i = 0; i < 20; i++) await db.query(tag + `SELECT 'user', ${i}`);
  },
  '/together': (tag) => Promise.all([1, 2, 3].map((i) => db.query(tag + `SELECT 'together', ${i} AS n`))),
  '/prepared': async (tag) => {
    for (let i = 0; i < 2; i++) await db.execute(tag + "SELECT 'prepared' AS name, ?", [i]);
  },
  '/tx': async (tag) => {
    const c = await db.getConnection();
    await c.beginTransaction();
    await c.query(tag + 'SELECT 2');
    await c.commit();
    c.release();
  },
  '/pause': async (tag) => {
    await sleep(3);
    await db.query(tag + "SELECT 'after a pause' AS paused");
  },
  '/slow': async (tag) => { // it goes on when the client has given up
    await db.query(tag + "SELECT 'slow', SLEEP(0.05)");
    await db.query(tag + "SELECT 'after the client gave up' AS late");
  },
  '/none': async () => {},
};

const server = http.createServer(async (req, res) => {
  try {
    await handlers[req.url](`/*${req.method} ${req.url}*/ `);
    res.end('ok\n');
  } catch (e) {
    console.error(e);
    res.writeHead(500).end();
  }
});
setInterval(() => db.query("/*job*/ SELECT 'a job' AS job").catch(() => {}), 40);
server.listen(0, '127.0.0.1', () => console.log(`127.0.0.1:${server.address().port}`));
