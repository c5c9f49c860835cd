from django.apps import apps
from django.conf.urls.static import static  # noqa: F401
from django.urls import include, path
from django.views.static import serve
from django.conf import settings

urlpatterns = [
    path("i18n/", include("django.conf.urls.i18n")),
    path("static/<path:path>", serve, {"document_root": settings.STATIC_ROOT}),
    path("", include(apps.get_app_config("oscar").urls[0])),
]
