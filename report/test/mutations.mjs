// Page data made wrong by chance, the same for the same seed.
export function chanceOf(seed) {
  let state = (seed * 2654435761) >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  const below = (n) => Math.floor(next() * n);
  return { next, below, pick: (list) => list[below(list.length)] };
}

const texts = ["", "x".repeat(3000), "</script><img src=x onerror=alert(1)>", "<svg onload=alert(2)>", "\u202egnp.exe\u202c", "\u0000\u001b[31m\u0007", "\ud800", "__proto__", "constructor", "toString", "NaN", "1e999", "-0", "=1+1",
  "javascript:alert(3)", "${alert(4)}", "(2)", " (2)", "subspectra.selection/1", "subspectra.evaluation/1", "subspectra.clustering/1", "subspectra.reproduction/1", "subspectra.model/1", "\n\n\n", "\u{1f600}".repeat(40), "e\u0301".repeat(40), "%", "'; rm -rf /"];
const numbers = [0, -0, 1, -1, 2, 0.5, -0.5, 1e-9, 5e-324, 1e21, 1e17, 1e308, -1e308, 1.7976931348623157e308, 2 ** 31, 2 ** 32, 2 ** 47, 2 ** 53, 2 ** 53 + 2, -(2 ** 53), 9007199254740991, 1000003, 65536];
function odd(chance) {
  switch (chance.below(12)) {
    case 0: return null;
    case 1: return chance.below(2) === 0;
    case 2: return [];
    case 3: return {};
    case 4: return [[]];
    case 5: return { length: 5, 0: 1, toString: 1, valueOf: null };
    case 6: return Array.from({ length: chance.below(400) }, () => chance.pick(numbers));
    case 7: { let deep = 1; for (let i = chance.below(60); i > 0; --i) deep = chance.below(2) ? [deep] : { deep }; return deep; }
    case 8: case 9: return chance.pick(texts);
    default: return chance.pick(numbers);
  }
}

/// Some value of the document, where it stands.
function place(document, chance) {
  let holder = { document }, key = "document";
  while (typeof holder[key] === "object" && holder[key] !== null && Object.keys(holder[key]).length > 0 && chance.next() < 0.88) {
    holder = holder[key];
    key = chance.pick(Object.keys(holder));
  }
  return { holder, key };
}

function change(document, chance) {
  const { holder, key } = place(document, chance);
  const value = holder[key];
  const dice = chance.below(10);
  if (Array.isArray(value) && dice < 7) {
    const at = chance.below(value.length + 1);
    if (dice === 0) value.length = at;
    else if (dice === 1) value.splice(at, 1);
    else if (dice === 2) value.splice(at, 0, odd(chance));
    else if (dice === 3) value.push(...structuredClone(value.slice(0, 500)));
    else if (dice === 4) value.reverse();
    else if (value.length > 0) value[Math.min(at, value.length - 1)] = odd(chance);
  } else if (dice === 7) {
    const other = place(document, chance);
    const copy = structuredClone(other.holder[other.key]);
    holder[key] = JSON.stringify(copy)?.length < 20000 ? copy : null;
  } else if (dice === 8 && !Array.isArray(holder)) {
    delete holder[key];
  } else if (typeof value === "number" && dice < 5) {
    holder[key] = dice === 0 ? -value : dice === 1 ? value + 1 : dice === 2 ? value * 1e300 : dice === 3 ? String(value) : chance.pick(numbers);
  } else if (typeof value === "string" && dice < 5) {
    holder[key] = dice < 3 ? chance.pick(texts) : value + chance.pick(texts);
  } else {
    holder[key] = odd(chance);
  }
}

/// `document` with a few changes; itself is left as it is.
export function mutated(document, chance) {
  const box = { document: structuredClone(document) };
  for (let times = 1 + chance.below(4); times > 0; --times) {
    if (typeof box.document !== "object" || box.document === null) break;
    change(box.document, chance);
  }
  return JSON.parse(JSON.stringify(box.document) ?? "null");
}

/// Text of the element that holds the data, damaged as a transfer damages it.
export function damaged(text, chance) {
  const at = chance.below(text.length);
  switch (chance.below(5)) {
    case 0: return text.slice(0, at);
    case 1: return text.slice(0, at) + chance.pick(["A", "=", " ", "\n", "\u0000", "%", "/"]) + text.slice(at + 1);
    case 2: return text.slice(at);
    case 3: return text.slice(0, at) + text.slice(at + 1 + chance.below(9));
    default: return text + text.slice(0, 40);
  }
}
