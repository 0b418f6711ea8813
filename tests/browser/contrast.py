"""The contrast of each text that a page shows, measured in the browser."""

from __future__ import annotations

FAINT = """() => {
  const channels = (text) => { const [r, g, b, a = 1] = text.match(/[0-9.]+/g).map(Number); return [r, g, b, a]; };
  const over = ([r, g, b, a], under) => [r, g, b].map((value, i) => a * value + (1 - a) * under[i]);
  const luminance = (color) => color
    .map((value) => value / 255)
    .map((value) => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4)
    .reduce((sum, value, i) => sum + [0.2126, 0.7152, 0.0722][i] * value, 0);
  const found = {};
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !element.checkVisibility()) continue;
    const chain = [];
    for (let each = element; each; each = each.parentElement) chain.unshift(getComputedStyle(each));
    const back = chain.reduce((under, style) => over(channels(style.backgroundColor), under), [255, 255, 255]);
    const style = chain.at(-1);
    const color = over(channels(element.closest("svg") ? style.fill : style.color), back);
    const [low, high] = [luminance(color), luminance(back)].sort((a, b) => a - b);
    const shine = chain.reduce((all, each) => all * each.opacity, 1);
    const ratio = (high + 0.05) / (low + 0.05);
    if (ratio < 4.5 || shine < 1) found[element.outerHTML.slice(0, 120)] = ratio.toFixed(2);
  }
  return found;
}"""


def faint_text(page):
    """Elements whose text has less than 4.5:1, with their contrast."""
    return page.evaluate(FAINT)
