// Names for what the theme leaves nameless to readers of the screen.
document.addEventListener("DOMContentLoaded", () => {
  document.querySelectorAll("nav summary").forEach(summary => {
    const part = summary.closest("li").querySelector("a").textContent;
    summary.setAttribute("aria-label", `chapters of ${part}`);
  });
  const sidebar = document.getElementById("pst-primary-sidebar");
  sidebar?.setAttribute("role", "complementary");
  sidebar?.setAttribute("aria-label", "The book");
});
