"""Uploads that nobody would send on purpose, and some that somebody would: ``make fuzz``, in short ``test_fuzz``.

Hypothesis strategies make them by kind: ``files``, ``organiser_files`` and ``archives`` sound at first (``sound``) and
then broken (``mutations``), ``bodies`` the requests around them. ``kinds`` sends each to the code that a site would,
``run`` counts and measures.
"""
