// The search of the site runs in a worker, which browsers do not start for pages from a disk. There a frame
// takes its place: it runs the same script, and passes messages in both directions. The script of the theme
// looks for the name IFrameWorker, and finds its dictionaries by the address of the frame's script.
"use strict";

if (location.protocol === "file:") {
  window.IFrameWorker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      this.inner = frame.contentWindow;
      this.inner.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      this.inner.importScripts = async (...urls) => {
        for (const one of urls) await this.load(one);
      };
      this.ready = this.load(url);
    }

    load(url) {
      return new Promise((loaded, failed) => {
        const script = this.inner.document.createElement("script");
        Object.assign(script, { src: String(url), onload: loaded, onerror: failed });
        this.inner.document.body.append(script);
      });
    }

    postMessage(data) {
      this.ready.then(() => this.inner.dispatchEvent(new this.inner.MessageEvent("message", { data })));
    }

    terminate() { this.inner.frameElement.remove(); }
  };
  window.Worker = window.IFrameWorker;
}
