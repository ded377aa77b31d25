// Changes selected memories without leaving the page. The server applies a change after ten seconds, during which it
// can be undone. The list is shown as if the change were applied.

/** Tells screen readers what has changed. */
const announcement = document.createElement("p");
announcement.className = "hidden-text";
announcement.setAttribute("role", "status");
document.body.append(announcement);

function showProblem(text) {
  document.querySelector("main .problem")?.remove();
  const problem = document.createElement("p");
  problem.className = "problem";
  problem.setAttribute("role", "alert");
  problem.textContent = text;
  document.getElementById("results").prepend(problem);
  problem.scrollIntoView({ block: "nearest" });
}

async function sendSelection(form, submitter) {
  const body = new URLSearchParams(new FormData(form, submitter));
  body.set("later", "1");
  const first = form.querySelector(".memory:has(input:checked)");
  const at = first ? rowLinks().indexOf(first.querySelector(".memory-text")) : -1;
  const headers = { accept: "text/html", "ctxd-part": "results" };
  const response = await fetch(form.getAttribute("action"), { method: "POST", body, headers });
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  const problem = page.querySelector(".problem");
  if (problem) {
    showProblem(problem.textContent);
    return;
  }
  // The new list must not change the scroll position.
  const { scrollX, scrollY } = window;
  if (!replaceResults(page)) {
    location.reload();
    return;
  }
  scrollTo(scrollX, scrollY);
  const links = rowLinks();
  const next = links[Math.min(Math.max(0, at), links.length - 1)];
  (next ?? document.querySelector(".undo button"))?.focus({ preventScroll: true });
  announcement.textContent = (
    page.querySelector(".done") ?? page.querySelector(".undo p")
  )?.textContent;
}

document.addEventListener("submit", (event) => {
  const { target: form, submitter } = event;
  const isWhole = form.querySelector('[name="all"]:checked') || submitter?.value === "export";
  const isSelection = form.matches("form.results") && !isWhole;
  if (event.defaultPrevented || !(isSelection || form.closest(".undo"))) return;
  event.preventDefault();
  if (form.dataset.busy !== undefined) return;
  form.dataset.busy = "";
  sendSelection(form, submitter)
    .catch(() => showProblem("The server can't be reached. Nothing was changed."))
    .finally(() => delete form.dataset.busy);
});

/** Enter in a field of the selection presses the button beside the field, not the first one of the form. */
document.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.isComposing || !event.target.matches(".pair input")) return;
  event.preventDefault();
  event.target.closest(".pair").querySelector("button").click();
});

/** The key `z` undoes the last change. A button disappears when its change can no longer be undone. */
function startUndoButtons() {
  const forms = [...document.querySelectorAll(".undo form")];
  for (const [index, form] of forms.entries()) {
    const button = form.querySelector("button");
    if (index === 0) button.dataset.key = "z";
    setTimeout(() => form.remove(), Number(form.querySelector("[data-left]").dataset.left));
  }
}

startUndoButtons();
document.addEventListener("part:replaced", startUndoButtons);
