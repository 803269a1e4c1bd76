// The site's own search, outside of a browser: prints, for each query, the pages found, best first.
// node ask_search.js worker.js search_words.js search_index.json query...
"use strict";
const fs = require("fs");
const vm = require("vm");

const [worker, words, index, ...queries] = process.argv.slice(2);
const answers = [];
let listen = null;
const context = vm.createContext({
  console: { warn: (...text) => console.error(...text) },
  addEventListener: (_, listener) => (listen = listener),
  postMessage: (message) => answers.push(message),
  deliver: (message) => listen({ data: message }),
});
// A page has a Worker, through which its messages go; the worker has `self`.
const SETTING = "var self = this; class Worker { postMessage(message) { return deliver(message); } }";
vm.runInContext(SETTING, context);
for (const file of [worker, words]) vm.runInContext(fs.readFileSync(file, "utf8"), context);
const page = vm.runInContext("new Worker()", context);

async function ask(type, data) {
  await page.postMessage({ type, data });
  while (!answers.length) await new Promise((resolve) => setTimeout(resolve, 1));
  return answers.pop().data;
}

(async () => {
  const { config, docs } = JSON.parse(fs.readFileSync(index, "utf8"));
  await ask(0, { config, docs, options: { suggest: false } });
  const found = {};
  for (const query of queries) {
    const { items } = await ask(2, query);
    found[query] = items.map((sections) => sections[0].location.split("#")[0]);
  }
  console.log(JSON.stringify(found));
})();
