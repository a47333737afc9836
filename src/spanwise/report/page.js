// Draws every chart of the page, in the colours that suit the reader's paper, and again when that changes.
const dark = matchMedia("(prefers-color-scheme: dark)");
const narrow = matchMedia("(max-width: 700px)");
const swaps = JSON.parse(document.getElementById("dark-colours").textContent);
const tint = (key, value) => (dark.matches && typeof value === "string" && Object.hasOwn(swaps, value) ? swaps[value] : value);
const below = {orientation: "h", y: -0.3, yanchor: "top"};
// Named one by one: plotly's own choice includes a button that sends the chart to a server.
const buttons = [["toImage"], ["zoom2d", "pan2d", "zoomIn2d", "zoomOut2d", "resetScale2d"]];
const config = {responsive: true, displaylogo: false, modeBarButtons: buttons, plotlyServerURL: ""};
function drawAll() {
  for (const source of document.querySelectorAll("script[data-chart]")) {
    const figure = JSON.parse(source.textContent, tint);
    if (narrow.matches) Object.assign(figure.layout, {legend: below, margin: {l: 50, r: 10, t: 34, b: 56}});
    Plotly.react(source.dataset.chart, figure.data, figure.layout, config);
  }
}
drawAll();
for (const query of [dark, narrow]) query.addEventListener("change", drawAll);
