// Shows the API with Swagger UI.

/** Its styles know the dark by a class alone. */
function followDarkMode() {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const follow = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
  dark.addEventListener("change", follow);
  follow();
}

/** Saving and finding come before the rest. */
const FIRST = ["", "/search", "/{id}", "/{id}/history", "/batch", "/move"];

function placeOf(operation) {
  const place = FIRST.indexOf(operation.get("path").replace("/api/memories", ""));
  return place < 0 ? FIRST.length : place;
}

followDarkMode();
SwaggerUIBundle({
  dom_id: "#page",
  url: "/docs/json",
  deepLinking: true,
  operationsSorter: (a, b) => placeOf(a) - placeOf(b),
});
