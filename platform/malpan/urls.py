"""Every address of the site."""

from allauth.account import views
from allauth.account.decorators import secure_admin_login
from django.contrib import admin
from django.db import transaction
from django.urls import include, path

from malpan.operation.health import SiteHealthView
from malpan.operation.metrics.page import openmetrics
from malpan.operation.site_page import page as site_page
from malpan.operation.site_page import texts as site_texts
from malpan.web.pages import account

# one log-in for everybody, with limited attempts and confirmed addresses
admin.site.login = secure_admin_login(admin.site.login)  # type: ignore[method-assign]

handler500 = "malpan.middleware.server_error"
urlpatterns = [
    path("healthz/", SiteHealthView.as_view(), name="health"),
    path("openmetrics/", openmetrics, name="openmetrics"),
    path("manage/site/", site_page.site_page, name="manage_site"),
    path("manage/site/texts/", site_texts.texts_page, name="manage_site_texts"),
    path("manage/site/throughput.csv", site_page.throughput_csv, name="manage_site_csv"),
    path("admin/", admin.site.urls),
    # an account or an address whose mail does not go is not made either
    path("accounts/signup/", transaction.atomic(views.signup), name="account_signup"),
    path("accounts/email/", transaction.atomic(views.email), name="account_email"),
    path("accounts/resend/", account.resend_page, name="account_resend"),
    path("accounts/", include("allauth.urls")),
    path("api/", include("malpan.api.urls")),
    path("", include("malpan.web.urls")),
]
