module.exports = require('@strapi/strapi').factories.createCoreService('api::comment.comment');
