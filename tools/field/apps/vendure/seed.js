// 200 products by Vendure's own import; vendure.sql makes more of them.
const fs = require('fs');
const { bootstrap, JobQueueService, SearchService } = require('@vendure/core');
const { populate } = require('@vendure/core/cli');
const { config } = require('./server.js');

const kinds = ['Electronics', 'Garden', 'Sport', 'Books'], colours = ['red', 'blue', 'green', 'black'];
const words = ['Copper', 'Stone', 'Paper', 'Light', 'River', 'Harbour', 'Maple', 'Velvet'];
const rows = ['name,slug,description,assets,facets,optionGroups,optionValues,sku,price,taxCategory,stockOnHand,trackInventory,variantAssets,variantFacets'];
for (let i = 1; i <= 200; i++) {
  const name = `${words[i % 8]} ${words[(i >> 3) % 8]} ${i}`;
  rows.push(`${name},product-${i},"${'A fine thing made of ' + words[i % 8].toLowerCase() + ' for everyday use. '}${'It lasts. '.repeat(20)}",,` +
    `category:${kinds[i % 4]}|colour:${colours[(i >> 2) % 4]},size,small,SKU${i},${10 + i % 90}.50,standard,100,false,,`);
}
fs.writeFileSync('products.csv', rows.join('\n'));
populate(() => bootstrap(config).then(async app => { await app.get(JobQueueService).start(); return app; }), {
  defaultLanguage: 'en', defaultZone: 'Europe',
  countries: ['AT Austria', 'DE Germany', 'FR France', 'GB United Kingdom'].map(c => ({ code: c.slice(0, 2), name: c.slice(3), zone: 'Europe' })),
  taxRates: [{ name: 'Standard Tax', percentage: 20 }],
  shippingMethods: [{ name: 'Standard Shipping', price: 500 }, { name: 'Express Shipping', price: 1000 }],
  paymentMethods: [{ name: 'Standard Payment', handler: { code: 'dummy-payment-handler', arguments: [{ name: 'automaticSettle', value: 'false' }] } }],
  collections: [...kinds.map(k => ({ name: k, filters: [{ code: 'facet-value-filter', args: { facetValueNames: [`category:${k}`], containsAny: false } }] }))],
}, 'products.csv').then(async app => {
  await new Promise(r => setTimeout(r, 30000)); // the queue: collections and the search index
  await app.close();
  process.exit(0);
}).catch(err => { console.error(err); process.exit(1); });
