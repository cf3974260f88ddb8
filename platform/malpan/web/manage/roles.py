"""The roles of a competition: owners appoint, change and dismiss."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import path, reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from malpan.competitions import roles
from malpan.competitions.models import CompetitionRole
from malpan.competitions.permissions import Permission, may
from malpan.teams.selectors import competing_with_a_role
from malpan.web.acting import act
from malpan.web.forms.fields import ConfirmForm
from malpan.web.forms.roles import AppointForm, RoleForm
from malpan.web.manage.access import ManageAccess, manage_page
from malpan.web.pages.context import MemberRequest


@require_safe
@manage_page(Permission.OWN)
def roles_page(request: MemberRequest, access: ManageAccess) -> HttpResponse:
    return _roles_page(request, access, AppointForm())


def _roles_page(request: MemberRequest, access: ManageAccess, form: AppointForm, status: int = 200) -> HttpResponse:
    teams = competing_with_a_role(access.competition)
    rows = [
        (
            held,
            RoleForm(initial={"role": held.role}, auto_id=f"role_{held.pk}_%s"),
            _dismissal(held),
            teams.get(held.user_id),
        )
        for held in roles.roles_of(access.competition)
    ]
    context = access.context("manage_roles") | {"rows": rows, "form": form}
    return render(request, "manage/roles.html", context, status=status)


def _dismissal(held: CompetitionRole, data: object = None) -> ConfirmForm:
    return ConfirmForm(data, key=f"dismiss-{held.pk}", sentence=_("역할을 거둡니다. 한 일의 기록은 남습니다."))


@require_POST
@manage_page(Permission.OWN)
def appoint_action(request: MemberRequest, access: ManageAccess) -> HttpResponse:
    """Give the account of an e-mail address a role."""
    form = AppointForm(request.POST)
    text = _("‘%(name)s’에게 역할을 맡겼습니다: %(role)s.")
    return act(
        request,
        lambda values: roles.appoint_by_email(competition=access.competition, actor=request.user, **values),
        form=form,
        success=lambda held: text % {"name": held.user, "role": held.get_role_display()},
        to=access.url("manage_roles"),
        render_again=lambda status: _roles_page(request, access, form, status),
        error_field="email",
    )


@require_POST
@manage_page(Permission.OWN)
def change_action(request: MemberRequest, access: ManageAccess, pk: int) -> HttpResponse:
    """Give somebody another role. Raises ``RoleNotFound`` for one of another competition."""
    held = roles.role_of(access.competition, pk)
    return act(
        request,
        lambda values: roles.change(held=held, role=values["role"], actor=request.user),
        form=RoleForm(request.POST),
        success=_("역할을 바꾸었습니다."),
        to=lambda _held: _back(request, access),
    )


@require_POST
@manage_page(Permission.OWN)
def dismiss_action(request: MemberRequest, access: ManageAccess, pk: int) -> HttpResponse:
    """Remove a role if the box beside the button is ticked."""
    held = roles.role_of(access.competition, pk)
    return act(
        request,
        lambda _values: roles.dismiss(held=held, actor=request.user),
        form=_dismissal(held, request.POST),
        success=_("‘%(name)s’의 역할을 거두었습니다.") % {"name": held.user},
        to=lambda _done: _back(request, access),
    )


def _back(request: MemberRequest, access: ManageAccess) -> str:
    """The address of the roles, or of the home page for somebody who is no longer an owner."""
    return access.url("manage_roles") if may(request.user, access.competition, Permission.OWN) else reverse("home")


urlpatterns = [
    path("roles/", roles_page, name="manage_roles"),
    path("roles/appoint/", appoint_action, name="manage_role_appoint"),
    path("roles/<int:pk>/", change_action, name="manage_role_change"),
    path("roles/<int:pk>/dismiss/", dismiss_action, name="manage_role_dismiss"),
]
