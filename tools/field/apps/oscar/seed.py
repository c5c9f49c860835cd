"""3,000 products in 30 categories, with stock, reviews and 2,000 sessions."""
import random

import django

django.setup()
from django.contrib.auth import get_user_model
from oscar.apps.address.models import Country
from oscar.apps.catalogue.categories import create_from_breadcrumbs
from oscar.apps.catalogue.models import Product, ProductCategory, ProductClass
from oscar.apps.catalogue.reviews.models import ProductReview
from oscar.apps.partner.models import Partner, StockRecord

random.seed(7)
words = "river stone light winter paper garden machine signal copper island forest engine window harbour letter".split()
Country.objects.get_or_create(iso_3166_1_a2="JP", defaults={"name": "Japan", "is_shipping_country": True})
kind, _ = ProductClass.objects.get_or_create(name="Book")
partner, _ = Partner.objects.get_or_create(name="Shop", code="shop")
leaves = [create_from_breadcrumbs(f"{a.title()} > {b.title()}") for a in words[:5] for b in words[5:11]]
products = Product.objects.bulk_create([
    Product(structure="standalone", upc=f"u{i}", title=f"{random.choice(words)} {random.choice(words)} {i}", slug=f"book-{i}",
            description=" ".join(random.choices(words, k=80)), product_class=kind, is_public=True) for i in range(3000)])
products = list(Product.objects.order_by("id"))
ProductCategory.objects.bulk_create([ProductCategory(product=p, category=leaves[i % len(leaves)]) for i, p in enumerate(products)])
StockRecord.objects.bulk_create([StockRecord(product=p, partner=partner, partner_sku=p.upc, price_currency="GBP",
                                             price=random.randrange(100, 9999) / 100, num_in_stock=50) for p in products])
users = get_user_model().objects.bulk_create([get_user_model()(username=f"u{i}", email=f"u{i}@example.com") for i in range(300)])
users = list(get_user_model().objects.all())
ProductReview.objects.bulk_create([
    ProductReview(product=random.choice(products), user=random.choice(users), score=random.randrange(1, 6), title="It is",
                  body=" ".join(random.choices(words, k=30)), status=1) for i in range(20000)], ignore_conflicts=True)
