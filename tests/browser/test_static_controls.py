"""On the static page each control has a name and, moved by the keyboard, changes its figure."""


def test_controls_and_figures_have_words(page, site, explorable):
    page.goto(f"{site}/{explorable}")
    controls = page.locator(".pml-explore :is(input, select)")
    labels = controls.evaluate_all("all => all.map(c => c.labels[0]?.textContent.trim())")
    alts = page.locator(".pml-explore img").evaluate_all("all => all.map(i => i.alt.trim())")
    assert labels and all(labels)
    assert alts and all(alts)


def test_each_control_changes_its_figure(page, site, explorable):
    page.goto(f"{site}/{explorable}")
    for figure in page.locator(".pml-explore").all():
        image = figure.locator("img")
        for slider in figure.locator("input[type=range]").all():
            output = slider.locator("xpath=following-sibling::output")
            value, before = output.inner_text(), image.get_attribute("src")
            at_end = slider.evaluate("slider => slider.value === slider.max")
            slider.press("ArrowLeft" if at_end else "ArrowRight")
            wait_for_another_picture(page, image, before)
            assert value != output.inner_text() == slider.get_attribute("aria-valuetext")
        for choice in figure.locator("select").all():
            before = image.get_attribute("src")
            choice.select_option(index=1)
            wait_for_another_picture(page, image, before)


def wait_for_another_picture(page, image, before):
    changed = "([image, before]) => image.src !== before"
    page.wait_for_function(changed, arg=[image.element_handle(), before], timeout=5000)
    image.evaluate("image => image.decode()")  # fails if it is no picture
