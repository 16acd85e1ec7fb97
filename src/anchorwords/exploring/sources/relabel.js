// A label that is edited where it is shown: a button opens a field, Enter saves, Esc leaves the label as it was.

import { announce, el } from "./dom.js";
import { isEdited, rename, reset } from "./naming.js";
import { badge } from "./parts.js";

function button(text, attributes, action) {
  return el("button", { type: "button", ...attributes, on: { click: action } }, text);
}

/** What shows a topic, with a button to edit its label in place. */
export function editableLabel(topic, shown) {
  const edit = button(
    "✎",
    {
      class: "edit",
      "aria-label": `Edit the label of topic ${topic.topic}`,
      title: "Edit the label",
      "data-edit": topic.topic,
    },
    () => open(),
  );
  const room = el("div", { class: "editable" }, shown, edit);

  const done = (sentence) => {
    announce(sentence);
    // The view was drawn again, unless nothing has changed.
    (document.querySelector(`[data-edit="${topic.topic}"]`) ?? edit).focus({ preventScroll: true });
  };
  const close = () => {
    room.replaceChildren(shown, edit);
    done("The label is as it was");
  };
  const save = (text) => {
    rename(topic, text);
    done(`Topic ${topic.topic} is called ${topic.label}`);
  };

  const open = () => {
    const input = el("input", {
      type: "text",
      class: "label-field",
      value: topic.label,
      maxlength: 80,
      autocomplete: "off",
      placeholder: topic.automatic,
      "aria-label": `Label of topic ${topic.topic}; empty for its automatic name`,
    });
    input.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && !event.isComposing) {
        event.preventDefault();
        save(input.value);
      } else if (event.key === "Escape") {
        event.preventDefault();
        event.stopPropagation();
        close();
      }
    });
    const back = isEdited(topic)
      ? button("Reset", { class: "choice", title: "Bring back the label of the model" }, () => {
          reset([topic]);
          done(`Topic ${topic.topic} is called ${topic.label}`);
        })
      : null;
    room.replaceChildren(
      el(
        "span",
        { class: "label-editor" },
        badge(topic),
        input,
        button("Save", { class: "choice" }, () => save(input.value)),
        button("Cancel", { class: "choice" }, close),
        back ?? "",
      ),
    );
    input.focus();
    input.select();
  };
  return room;
}
