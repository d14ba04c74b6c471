// WebSocket that opens while the browser still loads the rest of the page, so that the first values appear earlier.

export const url = `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/socket`;
export const socket = new WebSocket(url, "airframe");
