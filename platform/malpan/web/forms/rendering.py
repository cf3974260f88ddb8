"""How every form of the site is rendered: ``{{ form }}`` and ``{{ form.name.as_field_group }}`` in a template."""

from __future__ import annotations

from django.forms.renderers import TemplatesSetting


class FormRenderer(TemplatesSetting):
    form_template_name = "forms/form.html"
    field_template_name = "forms/field.html"
