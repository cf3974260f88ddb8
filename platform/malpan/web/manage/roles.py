"""Who works behind the scenes of the competition: owners appoint, change and dismiss."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST, require_safe

from malpan.competitions import roles
from malpan.competitions.permissions import Permission, may
from malpan.core.errors import DomainError
from malpan.core.messages import text_of
from malpan.teams.selectors import competing_with_a_role
from malpan.web.forms.manage import AppointForm, RoleForm
from malpan.web.manage.access import ManageAccess, ManageTab, manage_page
from malpan.web.pages.context import MemberRequest

TAB = ManageTab("manage_roles", gettext_lazy("역할"), Permission.OWN)


@require_safe
@manage_page(Permission.OWN)
def roles_page(request: MemberRequest, access: ManageAccess) -> HttpResponse:
    return _roles_page(request, access, AppointForm())


def _roles_page(request: MemberRequest, access: ManageAccess, form: AppointForm, status: int = 200) -> HttpResponse:
    teams = competing_with_a_role(access.competition)
    rows = [
        (held, RoleForm(initial={"role": held.role}, auto_id=f"role_{held.pk}_%s"), teams.get(held.user_id))
        for held in roles.roles_of(access.competition)
    ]
    context = access.context("manage_roles") | {"rows": rows, "form": form}
    return render(request, "manage/roles.html", context, status=status)


@require_POST
@manage_page(Permission.OWN)
def appoint_action(request: MemberRequest, access: ManageAccess) -> HttpResponse:
    """Give the account of an e-mail address a role."""
    form = AppointForm(request.POST)
    if not form.is_valid():
        return _roles_page(request, access, form, 422)
    try:
        held = roles.appoint_by_email(competition=access.competition, actor=request.user, **form.cleaned_data)
    except DomainError as error:
        form.add_error("email", text_of(error))
        return _roles_page(request, access, form, error.http_status)
    text = _("‘%(name)s’에게 역할을 맡겼습니다: %(role)s.")
    messages.success(request, text % {"name": held.user, "role": held.get_role_display()})
    return redirect("manage_roles", access.competition.slug)


@require_POST
@manage_page(Permission.OWN)
def change_action(request: MemberRequest, access: ManageAccess, pk: int) -> HttpResponse:
    """Give somebody another role. Raises ``RoleNotFound`` for one of another competition."""
    held = roles.role_of(access.competition, pk)
    form = RoleForm(request.POST)
    if not form.is_valid():
        messages.error(request, _("역할을 골라 주십시오."))
        return redirect("manage_roles", access.competition.slug)
    try:
        roles.change(held=held, role=form.cleaned_data["role"], actor=request.user)
    except DomainError as error:
        messages.error(request, text_of(error))
    else:
        messages.success(request, _("역할을 바꾸었습니다."))
    return _back(request, access)


@require_POST
@manage_page(Permission.OWN)
def dismiss_action(request: MemberRequest, access: ManageAccess, pk: int) -> HttpResponse:
    """Take a role away, when the box beside the button is ticked."""
    held = roles.role_of(access.competition, pk)
    if "confirmed" not in request.POST:
        messages.error(request, _("확인란에 표시해 주십시오."))
        return redirect("manage_roles", access.competition.slug)
    try:
        roles.dismiss(held=held, actor=request.user)
    except DomainError as error:
        messages.error(request, text_of(error))
    else:
        messages.success(request, _("‘%(name)s’의 역할을 거두었습니다.") % {"name": held.user})
    return _back(request, access)


def _back(request: MemberRequest, access: ManageAccess) -> HttpResponse:
    """The page of the roles, or home for an owner who is none any more."""
    if may(request.user, access.competition, Permission.OWN):
        return redirect("manage_roles", access.competition.slug)
    return redirect("home")


urlpatterns = [
    path("roles/", roles_page, name="manage_roles"),
    path("roles/appoint/", appoint_action, name="manage_role_appoint"),
    path("roles/<int:pk>/", change_action, name="manage_role_change"),
    path("roles/<int:pk>/dismiss/", dismiss_action, name="manage_role_dismiss"),
]
