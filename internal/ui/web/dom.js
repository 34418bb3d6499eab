// Helpers for the elements of the page and for requests to its server. Text reaches the page as text nodes only, never
// as markup.
export const $ = id => document.getElementById(id);

// el makes an HTML element. Attributes that are functions become listeners; false, null and undefined ones are left out.
export function el(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

// svg makes an SVG element.
export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") {
      node.addEventListener(name, value);
    } else if (value !== false && value !== null && value !== undefined) {
      node.setAttribute(name, value === true ? "" : value);
    }
  }
  node.append(...children.flat().filter(child => child !== null && child !== undefined));
  return node;
}

// radio returns the value of a group of radio buttons, and setRadio chooses one of them.
export const radio = name => document.querySelector(`input[name="${name}"]:checked`).value;

export function setRadio(name, value) {
  for (const input of document.querySelectorAll(`input[name="${name}"]`)) {
    input.checked = input.value === value;
  }
}

// showAlert shows an error that concerns no field; an empty text hides it.
export function showAlert(text) {
  $("alert").textContent = text;
  $("alert").hidden = !text;
}

// guarded returns a function that shows the errors of f as an alert.
export function guarded(f) {
  return async (...args) => {
    try {
      await f(...args);
    } catch (err) {
      if (err.name !== "AbortError") {
        showAlert(err.message);
      }
    }
  };
}

// debounced returns a function that calls f when it has not been called again for a while.
export function debounced(f, milliseconds) {
  let timer;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(guarded(f), milliseconds);
  };
}

export const wait = milliseconds => new Promise(done => setTimeout(done, milliseconds));

// A Refusal is an error response of the server.
export class Refusal extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

// readToken returns the token of the address, after #, which no request carries. The page keeps it for its tab.
function readToken() {
  const given = location.hash.slice(1);
  if (/^[A-Z2-7]{20,}$/.test(given)) {
    sessionStorage.setItem("token", given);
    history.replaceState(null, "", location.pathname);
  }
  return sessionStorage.getItem("token") || "";
}

const token = readToken();

export const hasToken = () => token !== "";

// send sends a body to the server and returns its response.
async function send(route, type, body, signal) {
  let response;
  try {
    response = await fetch("/api/" + route, {
      method: "POST",
      signal,
      cache: "no-store",
      credentials: "omit",
      headers: { "Content-Type": type, Authorization: "Bearer " + token },
      body,
    });
  } catch (err) {
    if (err.name === "AbortError") {
      throw err;
    }
    throw new Refusal(0, "dptrain ui does not respond. Check whether it still runs in the terminal.");
  }
  const out = await response.json();
  if (!response.ok) {
    throw new Refusal(response.status, out.error);
  }
  return out;
}

// ask sends a request to the server and returns its response.
export const ask = (route, body = {}, signal = undefined) => send(route, "application/json", JSON.stringify(body), signal);

// sendFile copies a file into the folder of the server and returns its path there.
export const sendFile = file => send("import?name=" + encodeURIComponent(file.name), "application/octet-stream", file);

// follow polls a job until it ends, and calls onChange with each of its states.
export async function follow(job, onChange) {
  let state = job;
  while (!state.ended) {
    onChange(state);
    await wait(200);
    state = await ask("job", { job: state.job });
  }
  onChange(state);
  return state;
}

// round writes a number with a few significant digits.
export function round(x, digits = 3) {
  if (x === 0 || !Number.isFinite(x)) {
    return String(x);
  }
  const rounded = Number(x.toPrecision(digits));
  if (Math.abs(rounded) < 1e-3 || Math.abs(rounded) >= 1e9) {
    return rounded.toExponential().replace("e+", "e");
  }
  return rounded.toLocaleString("en-US", { maximumSignificantDigits: digits });
}

// decimals writes a share or a coefficient with three decimals.
export const decimals = x => x.toFixed(3).replace(/^-(0\.0+)$/, "$1");

export const percent = x => round(100 * x, 3) + "%";

// count writes a whole number with a noun.
export const count = (n, one, many) => `${n.toLocaleString("en-US")} ${n === 1 ? one : many}`;
