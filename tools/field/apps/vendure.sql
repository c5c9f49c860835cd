-- 200 imported products become 8,000; 5,000 customers, 20,000 orders of two lines.
SET foreign_key_checks = 0;
INSERT INTO product (id, enabled) SELECT p.id + 1000 * seq, 1 FROM product p, seq_1_to_39;
INSERT INTO product_translation (languageCode, name, slug, description, baseId)
  SELECT languageCode, CONCAT(name, '-', seq), CONCAT(slug, '-', seq), description, baseId + 1000 * seq FROM product_translation, seq_1_to_39;
INSERT INTO product_channels_channel SELECT productId + 1000 * seq, channelId FROM product_channels_channel, seq_1_to_39;
INSERT INTO product_facet_values_facet_value SELECT productId + 1000 * seq, facetValueId FROM product_facet_values_facet_value, seq_1_to_39;
INSERT INTO product_variant (id, sku, taxCategoryId, productId) SELECT id + 1000 * seq, CONCAT(sku, '-', seq), taxCategoryId, productId + 1000 * seq FROM product_variant, seq_1_to_39;
INSERT INTO product_variant_translation (languageCode, name, baseId)
  SELECT languageCode, CONCAT(name, '-', seq), baseId + 1000 * seq FROM product_variant_translation, seq_1_to_39;
INSERT INTO product_variant_price (currencyCode, channelId, price, variantId) SELECT currencyCode, channelId, price, variantId + 1000 * seq FROM product_variant_price, seq_1_to_39;
INSERT INTO product_variant_channels_channel SELECT productVariantId + 1000 * seq, channelId FROM product_variant_channels_channel, seq_1_to_39;
INSERT INTO product_variant_options_product_option SELECT productVariantId + 1000 * seq, productOptionId FROM product_variant_options_product_option, seq_1_to_39;
INSERT INTO stock_level (stockOnHand, stockAllocated, productVariantId, stockLocationId)
  SELECT stockOnHand, stockAllocated, productVariantId + 1000 * seq, stockLocationId FROM stock_level, seq_1_to_39;
INSERT INTO collection_product_variants_product_variant SELECT collectionId, productVariantId + 1000 * seq FROM collection_product_variants_product_variant, seq_1_to_39;
-- The search index as the worker would make it, which takes minutes; what it was to do is done.
DELETE FROM job_record WHERE queueName = 'update-search-index';
DELETE FROM search_index_item;
INSERT INTO search_index_item (languageCode, enabled, productName, productVariantName, description, slug, sku, facetIds, facetValueIds, collectionIds,
    collectionSlugs, channelIds, productPreview, productVariantPreview, inStock, productInStock, productVariantId, channelId, productId, price, priceWithTax)
  SELECT 'en', 1, t.name, vt.name, t.description, t.slug, v.sku, '1,2',
    (SELECT GROUP_CONCAT(f.facetValueId) FROM product_facet_values_facet_value f WHERE f.productId = t.baseId),
    IFNULL((SELECT GROUP_CONCAT(c.collectionId) FROM collection_product_variants_product_variant c WHERE c.productVariantId = v.id), ''),
    IFNULL((SELECT GROUP_CONCAT(ct.slug) FROM collection_product_variants_product_variant c JOIN collection_translation ct ON ct.baseId = c.collectionId
      WHERE c.productVariantId = v.id), ''),
    '1', '', '', 1, 1, v.id, 1, t.baseId, p.price, p.price * 1.2
  FROM product_translation t JOIN product_variant v ON v.productId = t.baseId JOIN product_variant_translation vt ON vt.baseId = v.id
    JOIN product_variant_price p ON p.variantId = v.id;
INSERT INTO user (id, identifier, verified) SELECT seq + 1000, CONCAT('person', seq, '@example.com'), 1 FROM seq_1_to_5000;
INSERT INTO user_roles_role SELECT seq + 1000, (SELECT id FROM role WHERE code = '__customer_role__') FROM seq_1_to_5000;
INSERT INTO authentication_method (identifier, passwordHash, type, userId) SELECT CONCAT('person', seq, '@example.com'),
    (SELECT passwordHash FROM authentication_method a WHERE a.passwordHash > '' LIMIT 1), 'NativeAuthenticationMethod', seq + 1000 FROM seq_1_to_5000;
INSERT INTO customer (id, firstName, lastName, emailAddress, userId) SELECT seq, 'Ada', CONCAT('Person ', seq), CONCAT('person', seq, '@example.com'), seq + 1000 FROM seq_1_to_5000;
INSERT INTO customer_channels_channel SELECT seq, 1 FROM seq_1_to_5000;
INSERT INTO address (fullName, streetLine1, city, postalCode, customerId, countryId, defaultShippingAddress)
  SELECT CONCAT('Ada Person ', seq), CONCAT(seq, ' High Street'), 'Graz', '8010', seq, (SELECT MIN(id) FROM region WHERE code = 'AT'), 1 FROM seq_1_to_5000;
INSERT INTO `order` (id, createdAt, code, state, active, orderPlacedAt, couponCodes, shippingAddress, billingAddress, currencyCode, customerId, taxZoneId,
    subTotal, subTotalWithTax, shipping, shippingWithTax)
  SELECT seq, NOW() - INTERVAL seq * 10 MINUTE, CONCAT('ORDER', seq), ELT(seq % 4 + 1, 'PaymentAuthorized', 'PaymentSettled', 'Shipped', 'Delivered'), 0,
    NOW() - INTERVAL seq * 10 MINUTE, '', '{"fullName":"Ada"}', '{}', 'USD', seq % 5000 + 1, 2, 4000, 4800, 500, 600 FROM seq_1_to_20000;
INSERT INTO order_channels_channel SELECT seq, 1 FROM seq_1_to_20000;
INSERT INTO order_line (quantity, orderPlacedQuantity, listPriceIncludesTax, adjustments, taxLines, productVariantId, taxCategoryId, initialListPrice, listPrice, orderId)
  SELECT 1 + seq % 3, 1 + seq % 3, 0, '[]', '[{"description":"Standard Tax","taxRate":20}]', (seq * 7) % 200 + 1, 1, 2000, 2000, seq % 20000 + 1 FROM seq_1_to_40000;
INSERT INTO payment (method, state, metadata, amount, orderId) SELECT 'standard-payment', 'Settled', '{}', 5400, seq FROM seq_1_to_20000;
INSERT INTO shipping_line (listPriceIncludesTax, adjustments, taxLines, shippingMethodId, listPrice, orderId)
  SELECT 0, '[]', '[{"description":"Standard Tax","taxRate":20}]', 1, 500, seq FROM seq_1_to_20000;
INSERT INTO history_entry (type, isPublic, data, discriminator, orderId)
  SELECT 'ORDER_STATE_TRANSITION', 1, '{"from":"Created","to":"AddingItems"}', 'order-history-entry', seq % 20000 + 1 FROM seq_1_to_60000;
ANALYZE TABLE product, product_translation, product_variant, product_variant_translation, product_variant_price, search_index_item, customer, user, `order`, order_line;
