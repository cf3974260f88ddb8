from tests.web.test_browser import *  # noqa
from tests.web.test_browser import LOW_CONTRAST
for n in list(globals()):
    if n.startswith("test_"): del globals()[n]
def test_dbg(at_browser, contest):
    person = at_browser(color_scheme="light")
    person.open(contest.address("team/"))
    print(person.page.evaluate(LOW_CONTRAST))
    print(person.page.content()[:6000])
    print(person.page.evaluate("(async()=>{const r=await fetch(document.querySelectorAll('link[rel=stylesheet]')[2].href);return (await r.text()).match(/.notice a[^}]*/)[0]})()"))
    print(person.page.evaluate("getComputedStyle(document.querySelector('.notice a.button')).color"))
