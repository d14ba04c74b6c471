// Start of the page: connection, header, stop, navigation.

import { attempt, el, sentence, setText, toast } from "./dom.js";
import * as early from "./early.js";
import { Link } from "./link.js";
import { isStopped, Live, summary } from "./live.js";
import { Session } from "./session.js";
import { Trials } from "./trials.js";
import { DriveView } from "./views/drive.js";
import { WhyView } from "./views/why.js";
import { TuneView } from "./views/tune.js";
import { SetupView } from "./views/setup.js";
import { ShotsView } from "./views/shots.js";
import { RecordingsView } from "./views/recordings.js";

const views = { drive: DriveView, why: WhyView, tune: TuneView, setup: SetupView, shots: ShotsView, recordings: RecordingsView };
const link = new Link(early.url);
const live = new Live(link);
const session = new Session(link);
const page = { link, live, session };
page.trials = new Trials(page, document.getElementById("trials"));

const main = document.getElementById("view");
const headline = document.getElementById("headline");
const alarm = document.getElementById("alarm");
const rights = document.getElementById("rights");
const stopButton = document.getElementById("stop");
let view = null;
/** Views with fields that the user has filled in; they stay the same while the page is open. */
const kept = {};

/** Shows the view that the page's address names. An address without a view does not change the view. */
function show() {
  const wanted = location.hash.slice(1);
  const name = Object.hasOwn(views, wanted) ? wanted : view?.name ?? "drive";
  if (view?.name === name) return;
  const isFirst = !view;
  view?.close();
  main.replaceChildren();
  view = kept[name] ?? new views[name](page);
  view.name = name;
  if (view.isKept) kept[name] = view;
  main.append(...view.nodes);
  document.title = `${view.title} – airframe`;
  for (const anchor of document.querySelectorAll(".bottom nav a")) {
    if (anchor.hash === `#${name}`) anchor.setAttribute("aria-current", "page");
    else anchor.removeAttribute("aria-current");
  }
  view.show?.();
  if (isFirst) return;
  // A new view begins at its heading, also for the keyboard and for screen readers.
  scrollTo(0, 0);
  const heading = main.querySelector("h1");
  heading.tabIndex = -1;
  heading.focus({ preventScroll: true });
}

/** Longest wait for the confirmation of a stop, ms. airframe-web waits 2 s for airframed. */
const stopPatience = 2500;

/** Sends the stop over the open connection and also over a new connection, because one of them can hang. One confirmation is sufficient. */
function stop() {
  const { canWrite } = link;
  const ways = canWrite ? [link.request("stop")] : [];
  let isRefused = false;
  ways.push(fetch("/stop", { method: "POST", keepalive: true, signal: AbortSignal.timeout(stopPatience) }).then((answer) => {
    // The limit of requests (429) applies only to the POST requests of browsers that are not paired.
    isRefused = [401, 429].includes(answer.status);
    if (!answer.ok) throw new Error();
  }));
  const end = new Promise((_, reject) => setTimeout(reject, stopPatience));
  Promise.any(ways.map((way) => Promise.race([way, end]))).then((result) => {
    toast(result?.sentence ?? "Emergency stop: the motors stay off until the stop is reset.");
  }).catch(() => {
    toast(isRefused && !canWrite ? "This page cannot stop the motors, because it is not paired: pair this page first."
      : "The emergency stop is not confirmed: if the motors are still on, use the switch of the motors' supply.", true);
  });
}

function showAlarm() {
  const key = link.isOpen ? (isStopped(live.status) ? "stopped" : "") : `lost ${session.reason}`;
  if (alarm.dataset.key === key) return;
  alarm.dataset.key = key;
  alarm.replaceChildren();
  if (!link.isOpen) {
    alarm.append("No connection to the gimbal, so the page no longer turns the camera, and its values are old. The page connects again automatically.",
      session.reason ? ` Reason: ${session.reason}` : "");
  }
  if (key === "stopped") {
    alarm.append("Emergency stop: the motors stay off.",
      el("button", { type: "button", onclick: () => attempt(() => link.request("reset_stop")).then(() => live.poll()) }, "Reset the stop"));
  }
}

/** Shows in every view that the page can only watch, how to pair the browser, and that STOP needs the pairing. */
function showRights() {
  if (rights.hidden !== session.needsPairing) return;
  rights.hidden = !session.needsPairing;
  // The button still reacts to a touch: it then explains why it cannot stop the motors.
  stopButton.setAttribute("aria-disabled", session.needsPairing);
  setText(stopButton.querySelector("small"), session.needsPairing ? "pair to use" : "motors off");
  rights.replaceChildren();
  if (rights.hidden) return;
  rights.append(el("p", { class: "grow" }, "This browser can only watch."),
    el("button", { type: "button", class: "main", onclick: () => session.open() }, "Pair"));
}

live.addEventListener("status", () => {
  const { headline: text, role } = summary(live.status);
  setText(headline, text);
  headline.className = `chip ${role}`;
  showAlarm();
});
link.addEventListener("open", () => {
  document.documentElement.classList.remove("old");
  showAlarm();
});
link.addEventListener("lost", ({ detail }) => {
  // The page can be connected again before the alarm is read.
  if (detail.wasOpen && detail.reason && !detail.isQuiet) toast(sentence(detail.reason), true);
  document.documentElement.classList.add("old");
  setText(headline, "NO CONNECTION");
  headline.className = "chip bad";
  showAlarm();
});
session.addEventListener("change", () => {
  showAlarm();
  showRights();
});
link.addEventListener("refused", (event) => toast(sentence(event.detail), true));

// The button reacts to the first contact of the pointer, because the event click comes only after the release.
stopButton.addEventListener("pointerdown", stop);
stopButton.addEventListener("click", (event) => event.detail === 0 && stop());
document.addEventListener("keydown", (event) => {
  // In the form for the pairing code, Escape closes the form.
  if (event.key === "Escape" && !event.target.closest("dialog")) stop();
});
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});
document.getElementById("theme").addEventListener("click", () => {
  const root = document.documentElement;
  const isDark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = isDark ? "light" : "dark";
  try { localStorage.setItem("theme", root.dataset.theme); } catch { /* Storage can be switched off. */ }
});
try {
  const theme = localStorage.getItem("theme");
  if (theme) document.documentElement.dataset.theme = theme;
} catch { /* Storage can be switched off. */ }
window.addEventListener("hashchange", () => {
  session.begin();
  show();
});

link.connect(early.socket);
show();
session.begin();
