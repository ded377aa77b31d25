// Makes pages more convenient with scripts. Everything also works without them.

/** Buttons that copy a text of their own, or the response of an address or a field of it. */
const COPY_BUTTONS = "button[data-copy], button[data-copy-url]";
/** Buttons that select all rows of a page. */
const SELECT_BUTTONS = "button[data-select-all]";

/** Shows the buttons that need scripts. Browsers allow copying only on HTTPS and localhost. */
function showButtons() {
  const names = navigator.clipboard ? `${SELECT_BUTTONS}, ${COPY_BUTTONS}` : SELECT_BUTTONS;
  for (const button of document.querySelectorAll(names)) button.hidden = false;
}

async function fetchText(url, field) {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url} answers ${response.status}`);
  const found = await response.json();
  return field ? found[field] : JSON.stringify(found, null, 2);
}

async function writeClipboard({ copy, copyUrl, copyField }) {
  if (copyUrl === undefined) return navigator.clipboard.writeText(copy);
  // Some browsers allow copying only during the click. The promise provides the text later.
  const text = fetchText(copyUrl, copyField);
  await navigator.clipboard.write([new ClipboardItem({ "text/plain": text })]);
}

async function copy(button) {
  const label = button.firstChild;
  const text = label.textContent;
  try {
    await writeClipboard(button.dataset);
    label.textContent = "Copied";
  } catch {
    label.textContent = "Not allowed";
  }
  setTimeout(() => {
    label.textContent = text;
  }, 2000);
}

/** Opens a confirmation page as a dialog. */
async function openQuestion(link) {
  const response = await fetch(link.href, { headers: { accept: "text/html" } });
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  const question = page.querySelector("[data-question]");
  if (!response.ok || !question) {
    location.assign(link.href);
    return;
  }
  const dialog = document.createElement("dialog");
  dialog.setAttribute("aria-labelledby", question.querySelector("h1, h2")?.id ?? "");
  dialog.append(document.importNode(question, true));
  dialog.addEventListener("close", () => {
    dialog.remove();
    link.focus();
  });
  for (const cancel of dialog.querySelectorAll("[data-cancel]")) {
    cancel.addEventListener("click", (event) => {
      event.preventDefault();
      dialog.close();
    });
  }
  document.body.append(dialog);
  showMoments(dialog);
  dialog.showModal();
}

document.addEventListener("click", (event) => {
  const target = event.target instanceof Element ? event.target : null;
  const button = target?.closest(COPY_BUTTONS);
  if (button) copy(button);
  const selectsAll = target?.closest(SELECT_BUTTONS);
  if (selectsAll) selectAll(selectsAll);
  const link = target?.closest("a[data-dialog]");
  const isPlain = event.button === 0 && !(event.ctrlKey || event.metaKey || event.shiftKey);
  if (link && isPlain) {
    event.preventDefault();
    openQuestion(link).catch(() => location.assign(link.href));
  }
});

function selectAll(button) {
  const boxes = [...document.getElementsByName(button.dataset.selectAll)];
  const areAllSelected = boxes.every((box) => box.checked);
  for (const box of boxes) box.checked = !areAllSelected;
}

/** Removes empty parameters, which forms add, from the address. */
function shortenAddress() {
  const url = new URL(location.href);
  const empty = [...url.searchParams].filter(([, value]) => value === "");
  if (empty.length === 0) return;
  for (const [name] of empty) url.searchParams.delete(name);
  history.replaceState(history.state, "", url);
}

function enhance() {
  showMoments(document);
  showButtons();
}

enhance();
// Fires after a fetched part of the page was inserted.
document.addEventListener("part:replaced", enhance);
shortenAddress();
