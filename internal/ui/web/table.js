// The first step: files of the folder.
import { $, el, ask, guarded, sendFile, showAlert } from "./dom.js";
import { chosen, showRecipe } from "./state.js";
import { go, onEnter } from "./steps.js";
import { openTable } from "./columns.js";

const groups = [["table", "Tables"], ["results", "Earlier runs"], ["recipe", "Recipes"], ["ledger", "Ledgers"], ["folder", "Folders"]];

// listFolder shows the files of a folder by kind.
async function listFolder(dir) {
  const found = await ask("files", { path: dir });
  chosen.dir = found.path;
  $("folder").textContent = found.folder;
  const parent = found.path.split("/").slice(0, -1).join("/") || ".";
  const parts = groups.map(([kind, title]) => {
    const items = found.files.filter(f => f.kind === kind).map(f => fileButton(f.name, () => chooseFile(f)));
    if (kind === "folder" && found.path !== ".") {
      items.unshift(fileButton("Up one folder", () => listFolder(parent)));
    }
    return items.length ? [el("h3", {}, title), el("ul", { class: "files " + kind }, items)] : [];
  });
  $("files").replaceChildren(...parts.flat());
  $("no-tables").hidden = found.files.some(f => f.kind === "table");
}

const fileButton = (name, onClick) => el("li", {}, el("button", { type: "button", click: guarded(onClick) }, name));

// chooseFile opens a file in the step that it belongs to.
async function chooseFile(file) {
  showAlert("");
  switch (file.kind) {
    case "folder":
      return listFolder(file.path);
    case "results":
      chosen.results = file.path;
      return go("report");
    case "ledger":
      $("book").value = file.path;
      return go("ledger");
    case "recipe":
      return openRecipe(file.path);
  }
  return openTable(file.path);
}

// openRecipe uses an existing recipe as it is.
async function openRecipe(path) {
  Object.assign(chosen, { file: path, table: "", columns: [], bill: null, explained: null, epsilonMoved: false });
  $("file").value = path;
  for (const id of ["file", "out", "delta", "relation", "dataset", "ledger-path"]) {
    $(id).disabled = true;
  }
  await showRecipe();
  go("budget");
}

// copyTable copies a file of the browser into the folder and opens it.
async function copyTable(file) {
  showAlert("");
  $("drop-status").textContent = `Copying ${file.name} …`;
  try {
    const { path } = await sendFile(file);
    await openTable(path);
  } finally {
    $("drop-status").textContent = "";
    $("picked").value = "";
  }
}

$("pick").addEventListener("click", () => $("picked").click());
$("picked").addEventListener("change", guarded(async () => {
  const [file] = $("picked").files;
  if (file) {
    await copyTable(file);
  }
}));
$("sample").addEventListener("click", guarded(async () => openTable((await ask("sample")).path)));

// A file may be dropped anywhere on the first step. On the others a drop does nothing: the browser would leave the page.
let depth = 0; // of the elements under the pointer that have been entered
const isDropping = event => chosen.step === "table" && event.dataTransfer?.types.includes("Files");
const showDrop = on => $("drop").classList.toggle("over", on);
document.addEventListener("dragenter", event => {
  depth++;
  showDrop(isDropping(event));
});
document.addEventListener("dragleave", () => {
  depth = Math.max(0, depth - 1);
  if (depth === 0) {
    showDrop(false);
  }
});
document.addEventListener("dragover", event => {
  event.preventDefault();
  if (event.dataTransfer) {
    event.dataTransfer.dropEffect = isDropping(event) ? "copy" : "none";
  }
});
document.addEventListener("drop", guarded(async event => {
  event.preventDefault();
  const dropping = isDropping(event);
  depth = 0;
  showDrop(false);
  if (!dropping) {
    return;
  }
  const files = [...event.dataTransfer.files];
  if (files.length !== 1) {
    throw new Error(`You dropped ${files.length} files. Drop one table.`);
  }
  await copyTable(files[0]);
}));

onEnter.table = () => listFolder(chosen.dir);
