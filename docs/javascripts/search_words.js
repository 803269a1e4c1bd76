/* In the language of the search a minus excludes a word, so "-1" would find all pages without a 1.
   Whoever types a negative number looks for negative indices. */
"use strict";
function searchWords(query) {
  return query.replace(/(^|\s)-\d+(?=\s|$)/g, "$1negative");
}
if (typeof Worker !== "undefined") {
  const QUERY = 2; /* the type of the message that asks the worker of the search */
  const post = Worker.prototype.postMessage;
  Worker.prototype.postMessage = function (message, ...others) {
    const asks = message && message.type === QUERY && typeof message.data === "string";
    const sent = asks ? { ...message, data: searchWords(message.data) } : message;
    return post.call(this, sent, ...others);
  };
}
