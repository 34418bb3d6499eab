// Small helpers for the page. Texts reach it as text nodes only, never as markup.
export const $ = id => document.getElementById(id);

// el makes an element. Functions are listeners, false and null attributes are left out.
export function el(tag, attributes = {}, ...kids) {
  return fill(document.createElement(tag), attributes, kids);
}

export function svg(tag, attributes = {}, ...kids) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, kids);
}

function fill(node, attributes, kids) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") node.addEventListener(name, value);
    else if (value !== false && value !== null && value !== undefined) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...kids.flat().filter(kid => kid !== null && kid !== undefined));
  return node;
}

// An Refusal is an answer of the server that is no success.
export class Refusal extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

// The token comes in the address, after #, which no request carries. The page keeps it for its tab.
function token() {
  const given = location.hash.slice(1);
  if (/^[A-Z2-7]{20,}$/.test(given)) {
    sessionStorage.setItem("token", given);
    history.replaceState(null, "", location.pathname);
  }
  return sessionStorage.getItem("token") || "";
}
const secret = token();

// ask sends a request to the server and returns its answer.
export async function ask(what, body = {}, signal) {
  let answer;
  try {
    answer = await fetch("/api/" + what, {
      method: "POST", signal, cache: "no-store", credentials: "omit",
      headers: { "Content-Type": "application/json", Authorization: "Bearer " + secret },
      body: JSON.stringify(body),
    });
  } catch (err) {
    if (err.name === "AbortError") throw err;
    throw new Refusal(0, "dptrain ui does not answer: has it been stopped in the terminal?");
  }
  const out = await answer.json();
  if (!answer.ok) throw new Refusal(answer.status, out.error);
  return out;
}

export const known = () => secret !== "";

export const wait = ms => new Promise(done => setTimeout(done, ms));

// round prints a number with a few digits.
export function round(x, digits = 3) {
  if (x === 0 || !Number.isFinite(x)) return String(x);
  const text = Number(x.toPrecision(digits));
  return Math.abs(text) < 1e-3 || Math.abs(text) >= 1e6 ? text.toExponential().replace("e+", "e") : text.toLocaleString("en-US", { maximumSignificantDigits: digits, useGrouping: Math.abs(text) >= 1e4 });
}

export const percent = x => round(100 * x, 3) + "%";
