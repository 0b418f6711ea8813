"use strict";
/*
 * A tagger of seqtag in the page: words to features, features to keys, keys to weights, and Viterbi.
 * Pure functions; scripts/play_model.py writes model.js, and tests/browser/test_play_english.py
 * compares the labels with those of `seqtag tag`.
 */
window.english = (() => {
  const MASK = (1n << 64n) - 1n, MIX = 0xff51afd7ed558ccdn;
  const mix = (q) => ((q ^ (q >> 32n)) * MIX) & MASK;
  const utf8 = new TextEncoder();

  /** The hash of an attribute value, as seqtag.engine.keys.hash_string: FNV-1a, mixed. */
  function hash(value) {
    let h = 0xcbf29ce484222325n;
    for (const byte of utf8.encode(value)) h = ((h ^ BigInt(byte)) * 0x100000001b3n) & MASK;
    return mix(mix(h)) | 1n;
  }

  // -------------------------------------------------------------------------------- words
  const all = (word, kind) => word !== "" && [...word].every((char) => kind.test(char));
  const some = (word, kind) => [...word].some((char) => kind.test(char));
  const UPPER = /\p{Uppercase}/u, LOWER = /\p{Lowercase}/u, TITLE = /\p{Lt}/u, DIGIT = /\p{Nd}/u, LETTER = /\p{L}/u;

  const classOf = (char) => (UPPER.test(char) ? "X" : LOWER.test(char) ? "x" : DIGIT.test(char) ? "d" : char);
  function kindOf(char) {
    if (/\p{S}/u.test(char) && !"<>^`|~".includes(char)) return ["Sm", "Sc", "Sk", "So"].find((name) => new RegExp(`\\p{${name}}`, "u").test(char));
    return /[\p{M}\p{Cf}]/u.test(char) ? "" : classOf(char);
  }

  /** Attributes of seqtag.features.builtin, of a word in its normal form; null is no feature. */
  const ATTRIBUTES = {
    form: (word) => word,
    normal: (word) => word.toLowerCase().replace(/\p{Nd}/gu, "0"),
    prefix(word, n) {
      const chars = [...word.toLowerCase()];
      return chars.length >= n ? chars.slice(0, n).join("") : null;
    },
    suffix(word, n) {
      const chars = [...word.toLowerCase()];
      return chars.length >= n ? chars.slice(-n).join("") : null;
    },
    shape: (word) => [...word].map(classOf).join(""),
    outline: (word) => [...word].map(kindOf).filter(Boolean).filter((kind, i, kinds) => kind !== kinds[i - 1]).join(""),
    flags(word) {
      const chars = [...word], first = chars[0] ?? "";
      const upper = some(word, UPPER) && !some(word, LOWER) && !some(word, TITLE);
      return [UPPER.test(first), upper, some(word, DIGIT), word.includes("-"), all(word, LETTER), some(chars.slice(1).join(""), UPPER)].map(Number).join("");
    },
  };

  /** A model from what scripts/play_model.py has written. */
  function open(data) {
    const K = data.labels.length;
    const bytes = (text) => Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
    function varints(text) {
      const found = [];
      let number = 0, scale = 1;
      for (const byte of bytes(text)) {
        number += (byte & 127) * scale;
        scale *= 128;
        if (byte > 127) continue;
        found.push(number);
        [number, scale] = [0, 1];
      }
      return found;
    }
    function ascending(text) {
      let sum = 0;
      return varints(text).map((step) => (sum += step));
    }
    const keys = ascending(data.keys), cells = bytes(data.cells), rows = new Map();
    for (let row = 0, at = 0; row < keys.length; row++) {
      rows.set(keys[row], at);
      while (cells[at] < 128) at += 2;
      at += 2;
    }
    const words = ascending(data.words), classes = varints(data.classes), classOfWord = new Map(words.map((word, i) => [word, classes[i]]));
    const seeds = data.seeds.map(BigInt), multipliers = data.multipliers.map(BigInt), [before, after] = data.ends.map(BigInt);
    const vowels = new Set(data.vowels), consonants = new Set(data.consonants), invisible = new Set(data.invisible);

    const normalForm = (word) => [...word].filter((char) => !invisible.has(char)).map((char) => data.plain[char] ?? char).join("").normalize("NFC") || word;
    const asV = (char) => (!consonants.has(char) && vowels.has(char.normalize("NFD")[0]) ? "V" : char);
    const functions = {
      ...ATTRIBUTES,
      skeleton(word, n) {
        const suffix = ATTRIBUTES.suffix(word, n), skeleton = suffix && [...suffix].map(asV).join("");
        return skeleton === suffix ? null : skeleton;
      },
      class: (word) => data.values[classOfWord.get(Number(hash(ATTRIBUTES.normal(word)) >> 32n)) ?? data.values.length - 1],
    };

    /** The values of all attributes of a word, and their hashes. */
    const seen = new Map();
    function describe(word) {
      if (!seen.has(word)) {
        const form = normalForm(word), values = data.attributes.map(([name, ...args]) => functions[name](form, ...args));
        seen.set(word, { values, hashes: values.map((value) => (value === null ? 0n : hash(value))) });
      }
      return seen.get(word);
    }

    /** The features of word t: their names and values, and where their weights begin; only those that have weights. */
    function features(described, t) {
      return data.templates.flatMap((terms, k) => {
        let total = seeds[k];
        const values = [];
        for (const [z, [attribute, offset]] of terms.entries()) {
          const at = t + offset, word = described[at];
          const value = word ? word.hashes[attribute] : at < 0 ? before : after;
          if (value === 0n) return [];
          total = (total + value * multipliers[z]) & MASK;
          values.push(word ? word.values[attribute] : at < 0 ? "(start)" : "(end)");
        }
        const key = Math.max(1, Number(mix(total) >> BigInt(64 - data.bits))), at = rows.get(key);
        return at === undefined ? [] : [{ name: data.names[k], value: values.join(" "), weights: weightsAt(at) }];
      });
    }
    function weightsAt(at) {
      const weights = new Array(K).fill(0);
      for (let i = at; ; i += 2) {
        weights[cells[i] & 127] = (cells[i + 1] << 24) >> 24;
        if (cells[i] > 127) return weights;
      }
    }

    const indexOfBest = (scores) => scores.indexOf(Math.max(...scores)); // ties: the lowest label
    const each = [...new Array(K).keys()];

    /**
     * Decode a sentence. `forward[t][b]` is the score of the best sequence up to t that ends in b, `backward[t][b]` of
     * what can follow; their sum is the score of the best sequence through b.
     */
    function decode(tokens) {
      const described = tokens.map(describe), T = tokens.length;
      const found = tokens.map((_, t) => features(described, t));
      const emission = found.map((list) => each.map((k) => list.reduce((sum, { weights }) => sum + weights[k], 0)));
      const forward = [], from = [], backward = new Array(T), next = [];
      for (let t = 0; t < T; t++) {
        from.push(each.map((b) => (t ? indexOfBest(each.map((a) => forward[t - 1][a] + data.transition[a][b])) : null)));
        forward.push(each.map((b) => emission[t][b] + (t ? forward[t - 1][from[t][b]] + data.transition[from[t][b]][b] : data.start[b])));
      }
      for (let t = T - 1; t >= 0; t--) {
        const follow = (a) => each.map((b) => data.transition[a][b] + emission[t + 1][b] + backward[t + 1][b]);
        next[t] = each.map((a) => (t < T - 1 ? indexOfBest(follow(a)) : null));
        backward[t] = each.map((a) => (t < T - 1 ? Math.max(...follow(a)) : data.stop[a]));
      }
      const y = new Array(T);
      if (T) y[T - 1] = indexOfBest(each.map((b) => forward[T - 1][b] + data.stop[b]));
      for (let t = T - 1; t > 0; t--) y[t - 1] = from[t][y[t]];
      const through = forward.map((row, t) => row.map((score, b) => score + backward[t][b]));
      const score = T ? Math.max(...through[0]) : 0;
      const margins = through.map((row, t) => score - Math.max(...row.filter((_, b) => b !== y[t])));
      const rivals = through.map((row, t) => indexOfBest(row.map((value, b) => (b === y[t] ? -Infinity : value))));

      /** The best sequence whose label at t is b. */
      function path(t, b) {
        const labels = new Array(T);
        labels[t] = b;
        for (let i = t; i > 0; i--) labels[i - 1] = from[i][labels[i]];
        for (let i = t; i < T - 1; i++) labels[i + 1] = next[i][labels[i]];
        return labels;
      }
      return { tokens, features: found, emission, forward, through, y, score, margins, rivals, path };
    }
    return { labels: data.labels, data, decode, describe, size: { features: keys.length, weights: cells.length / 2 } };
  }

  /** Words of a typed sentence, roughly as in the treebank: clitics and punctuation are words. */
  function tokenize(text, most = 40) {
    const pieces = text.replace(/[’]/g, "'").match(/(?:\p{L}\.){2,}|\d+(?:[.,:]\d+)*|\p{L}[\p{L}\p{M}\d]*(?:['.-][\p{L}\p{M}\d]+)*|\.{2,}|[^\s]/gu) ?? [];
    const words = pieces.flatMap((piece) => {
      const negation = /^(.+)(n't)$/i.exec(piece), clitic = /^(.+)('(?:s|re|ve|ll|d|m))$/i.exec(piece);
      const [, ...parts] = /^(can)(not)$/i.exec(piece) ?? negation ?? clitic ?? ["", piece];
      return parts;
    });
    return words.slice(0, most);
  }
  return { hash, open, tokenize };
})();
