// What the administrator clicks together: what visitors and people with an account may do; 400 accounts.
const read = ['article', 'author', 'category', 'tag', 'comment'].flatMap((t) => [`api::${t}.${t}.find`, `api::${t}.${t}.findOne`]);

module.exports = {
  async bootstrap({ strapi }) {
    const roles = strapi.db.query('plugin::users-permissions.role');
    const grants = { public: read, authenticated: [...read, 'api::comment.comment.create'] };
    for (const [type, actions] of Object.entries(grants)) {
      const role = await roles.findOne({ where: { type } });
      for (const action of actions) {
        const grant = { action, role: role.id };
        const permissions = strapi.db.query('plugin::users-permissions.permission');
        if (!(await permissions.findOne({ where: grant }))) await permissions.create({ data: grant });
      }
    }
    const users = strapi.db.query('plugin::users-permissions.user');
    if (await users.count()) return;
    const role = await roles.findOne({ where: { type: 'authenticated' } });
    await strapi.plugin('users-permissions').service('user').add(
      { username: 'person0', email: 'person0@example.com', password: 'fieldfield', provider: 'local', confirmed: true, blocked: false, role: role.id });
  },
};
