"""On the static page each control has a name and, moved by the keyboard, changes its figure."""


def test_controls_and_figures_have_words(page, site, explorable):
    page.goto(f"{site}/{explorable}")
    controls = page.locator(".pml-explore :is(input, select)")
    labels = controls.evaluate_all("all => all.map(c => c.labels[0]?.textContent.trim())")
    said = "all => all.map(svg => svg.getAttribute('aria-label')?.trim())"
    alts = page.locator(".pml-explore .frame > svg").evaluate_all(said)
    assert labels and all(labels)
    assert alts and all(alts)


def test_each_control_changes_its_figure(page, site, explorable):
    page.goto(f"{site}/{explorable}")
    for figure in page.locator(".pml-explore").all():
        picture = figure.locator(".frame")
        for slider in figure.locator("input[type=range]").all():
            output = slider.locator("xpath=following-sibling::output")
            value, before = output.inner_text(), picture.inner_html()
            at_end = slider.evaluate("slider => slider.value === slider.max")
            slider.press("ArrowLeft" if at_end else "ArrowRight")
            assert_another_picture(picture, before)
            assert value != output.inner_text() == slider.get_attribute("aria-valuetext")
        for choice in figure.locator("select").all():
            before = picture.inner_html()
            choice.select_option(index=1)
            assert_another_picture(picture, before)


def assert_another_picture(picture, before):
    assert picture.inner_html() != before
    svg = picture.locator("> svg").bounding_box()
    assert svg["width"] > 100 and svg["height"] > 50
    assert picture.locator("path").count() > 2
