"""Every address of the site."""

from allauth.account.decorators import secure_admin_login
from django.contrib import admin
from django.urls import include, path
from health_check.views import HealthCheckView

from malpan.operation.metrics.page import openmetrics

# one log-in for everybody, with limited attempts and confirmed addresses
admin.site.login = secure_admin_login(admin.site.login)  # type: ignore[method-assign]

urlpatterns = [
    path(
        "healthz/",
        HealthCheckView.as_view(checks=["health_check.checks.Database", "health_check.checks.Cache"]),
        name="health",
    ),
    path("openmetrics/", openmetrics, name="openmetrics"),
    path("admin/", admin.site.urls),
    path("accounts/", include("allauth.urls")),
    path("api/", include("malpan.api.urls")),
    path("", include("malpan.web.urls")),
]
