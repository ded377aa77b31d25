// What makes pages handier where scripts run: everything here works without, only less well.

/** Buttons that copy: a text of their own, that of an element, or what an address answers. */
const COPYING = "button[data-copy], button[data-copy-from], button[data-copy-url]";

/** Browsers allow copying on HTTPS and localhost alone. */
function offerCopying(root) {
  if (!navigator.clipboard) return;
  for (const button of root.querySelectorAll(COPYING)) button.hidden = false;
}

async function answerOf(url) {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url} answers ${response.status}`);
  return JSON.stringify(await response.json(), null, 2);
}

async function putInClipboard({ copy, copyFrom, copyUrl }) {
  if (copyUrl === undefined) {
    await navigator.clipboard.writeText(copy ?? document.getElementById(copyFrom).textContent);
    return;
  }
  // At once, as some browsers allow it only while a press is being handled: the text may follow.
  const text = answerOf(copyUrl);
  await navigator.clipboard.write([new ClipboardItem({ "text/plain": text })]);
}

async function copy(button) {
  const label = button.firstChild;
  const text = label.textContent;
  try {
    await putInClipboard(button.dataset);
    label.textContent = "Copied";
  } catch {
    label.textContent = "Not allowed";
  }
  setTimeout(() => {
    label.textContent = text;
  }, 2000);
}

/** Shows the question of a page that asks for confirmation without leaving this one. */
async function ask(link) {
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
  const button = target?.closest(COPYING);
  if (button) copy(button);
  const selectsAll = target?.closest("button[data-select-all]");
  if (selectsAll) selectAll(selectsAll);
  const link = target?.closest("a[data-dialog]");
  const isPlain = event.button === 0 && !(event.ctrlKey || event.metaKey || event.shiftKey);
  if (link && isPlain) {
    event.preventDefault();
    ask(link).catch(() => location.assign(link.href));
  }
});

/** What a button says to select, on the page that it stands on. */
function offerSelecting(root) {
  for (const button of root.querySelectorAll("button[data-select-all]")) button.hidden = false;
}

function selectAll(button) {
  const boxes = [...document.getElementsByName(button.dataset.selectAll)];
  const isEach = boxes.every((box) => box.checked);
  for (const box of boxes) box.checked = !isEach;
}

/** A form names what was left empty too: the address does without. */
function shortenAddress() {
  const url = new URL(location.href);
  const empty = [...url.searchParams].filter(([, value]) => value === "");
  if (empty.length === 0) return;
  for (const [name] of empty) url.searchParams.delete(name);
  history.replaceState(history.state, "", url);
}

/** Links that change a part of what is looked at keep what was typed meanwhile. */
function keepSearch() {
  for (const link of document.querySelectorAll("a[data-switch]")) {
    const url = new URL(location.href);
    const wanted = new URL(link.href).searchParams;
    for (const name of link.dataset.switch.split(" ")) {
      if (wanted.has(name)) url.searchParams.set(name, wanted.get(name));
      else url.searchParams.delete(name);
    }
    link.href = url.href;
  }
}

function enhance() {
  showMoments(document);
  offerCopying(document);
  offerSelecting(document);
}

enhance();
// A part of the page that was fetched has come.
document.addEventListener("htmx:after:swap", enhance);
shortenAddress();
document.addEventListener("htmx:after:history:replace", () => {
  shortenAddress();
  keepSearch();
});
