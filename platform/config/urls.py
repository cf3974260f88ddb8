"""Every address of the site."""

from django.contrib import admin
from django.urls import include, path
from health_check.views import HealthCheckView

urlpatterns = [
    path(
        "healthz/",
        HealthCheckView.as_view(checks=["health_check.checks.Database", "health_check.checks.Cache"]),
        name="health",
    ),
    path("admin/", admin.site.urls),
    path("accounts/", include("allauth.urls")),
    path("api/", include("api.urls")),
    path("", include("web.urls")),
]
