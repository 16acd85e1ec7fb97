// The bar of labels that were edited in this page: where they are kept, how to take them along, how to undo them.

import { announce, el } from "./dom.js";
import { whole } from "./format.js";
import { areKept, editedCount, FILE_NAME, labelsFile, reset } from "./naming.js";

/** Save a text as a file, as a download: nothing leaves this machine. */
function save(text, name) {
  const address = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  el("a", { href: address, download: name }).click();
  // Browsers read the blob after the click has returned.
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

function filled(bar) {
  const n = editedCount();
  bar.hidden = n === 0;
  const what = n === 1 ? "1 label was edited." : `${whole(n)} labels were edited.`;
  const where = areKept()
    ? `This browser keeps ${n === 1 ? "it" : "them"} for this model.`
    : `This browser keeps nothing for this page: export ${n === 1 ? "it" : "them"} before you close it.`;
  const undo = el("button", { type: "button", class: "choice" }, "Reset all");
  undo.addEventListener("click", () => {
    // A second click is asked for, as this cannot be undone.
    if (undo.dataset.asked) {
      reset();
      announce("All labels are those of the model");
    } else {
      undo.dataset.asked = "yes";
      undo.textContent = n === 1 ? "Really reset it?" : `Really reset all ${whole(n)}?`;
    }
  });
  bar.replaceChildren(
    el("span", { class: areKept() ? null : "warning" }, `${what} ${where}`),
    el(
      "button",
      {
        type: "button",
        class: "choice",
        on: {
          click: () => {
            save(labelsFile(), FILE_NAME);
            announce(`${FILE_NAME} was saved`);
          },
        },
      },
      "Export labels",
    ),
    undo,
    el(
      "span",
      { class: "muted" },
      "Put the exported labels into the model: ",
      el("code", {}, `anchorwords edit MODEL --labels ${FILE_NAME} -o NEW`),
    ),
  );
}

/** Fill the bar, now and whenever a label changes. */
export function editsBar() {
  const bar = document.getElementById("edits");
  filled(bar);
  window.addEventListener("labelchange", () => filled(bar));
}
