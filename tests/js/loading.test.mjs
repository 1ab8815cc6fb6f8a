import assert from "node:assert/strict";
import { test } from "node:test";

import { SAY_AFTER_MS, starter } from "../../labeler/studies/ui/component/js/loading.js";

/** A page with a clock that the test sets; timers run when they are due. */
function page() {
  const world = { time: 0, waiting: [] };
  world.wait = (ms) => new Promise((done) => world.waiting.push({ at: world.time + ms, done }));
  world.turn = async (ms) => {
    const until = world.time + ms;
    await settled();
    const due = world.waiting.filter(({ at }) => at <= until).sort((one, other) => one.at - other.at)[0];
    world.time = due ? due.at : until;
    if (!due) return;
    world.waiting.splice(world.waiting.indexOf(due), 1);
    due.done();
    await world.turn(until - world.time);
  };
  return world;
}

function settled() {
  return new Promise((done) => setImmediate(done));
}

/** A mounted component; `part` is the element for its content, `words` the text of a message there. */
function mounted() {
  const world = { part: null };
  world.component = {
    parentElement: {
      querySelector: (name) => (name === ".component" ? world.part : null),
      append: (part) => Object.assign(world, { part }),
    },
  };
  return world;
}

/** Modules that load after this number of failures. */
function failing(times) {
  const world = { n_tried: 0, mounted: [], n_ended: 0 };
  const module = {
    content: "<style></style><p></p>",
    default: (component) => {
      world.mounted.push(component);
      return () => {
        world.n_ended += 1;
      };
    },
  };
  world.load = () => {
    world.n_tried += 1;
    return world.n_tried > times ? Promise.resolve(module) : Promise.reject(new TypeError("failed to fetch"));
  };
  return world;
}

/** An element that counts how often its content is replaced. */
function element() {
  let html = "";
  return {
    words: null,
    dataset: {},
    nFilled: 0,
    addEventListener: () => {},
    replaceChildren(...children) {
      this.words = children;
    },
    get innerHTML() {
      return html;
    },
    set innerHTML(value) {
      html = value;
      this.words = null;
      this.nFilled += 1;
    },
  };
}

globalThis.document = { createElement: element };

test("available modules are mounted at once, without a message", async () => {
  const [clock, modules, world] = [page(), failing(0), mounted()];
  const end = starter(modules.load, clock.wait)(world.component);
  await clock.turn(2 * SAY_AFTER_MS);
  assert.deepEqual([modules.mounted, modules.n_tried, world.part.words], [[world.component], 1, null]);
  end();
  assert.equal(modules.n_ended, 1);
});

test("modules that fail are requested again until they load", async () => {
  const [clock, modules, { component }] = [page(), failing(3), mounted()];
  starter(modules.load, clock.wait)(component);
  await clock.turn(SAY_AFTER_MS);
  assert.deepEqual([modules.mounted, modules.n_tried], [[component], 4]);
});

test("if loading takes long, the screen shows a message with a button and keeps trying", async () => {
  const [clock, modules, world] = [page(), failing(8), mounted()];
  starter(modules.load, clock.wait)(world.component);
  await clock.turn(SAY_AFTER_MS - 1);
  assert.equal(world.part.words, null);
  await clock.turn(1);
  assert.match(world.part.words[0], /has not loaded yet/);
  assert.equal(world.part.words[1].textContent, "Reload the page");
  await clock.turn(60_000);
  assert.deepEqual([modules.mounted, world.part.words], [[world.component], null]);
});

test("modules that never load get a message", async () => {
  const [clock, world] = [page(), mounted()];
  starter(() => new Promise(() => {}), clock.wait)(world.component);
  await clock.turn(SAY_AFTER_MS);
  assert.equal(world.part.words.length, 2);
});

test("a component removed before its modules load is not mounted, and shows no message", async () => {
  const [clock, modules, world] = [page(), failing(8), mounted()];
  starter(modules.load, clock.wait)(world.component)();
  await clock.turn(60_000);
  assert.deepEqual([modules.mounted, world.part.words], [[], null]);
});

test("new data reach a component in order, also before its modules load", async () => {
  const [clock, modules] = [page(), failing(1)];
  const start = starter(modules.load, clock.wait);
  const components = [mounted().component, mounted().component, mounted().component];
  start(components[0]);
  start(components[1]);
  await clock.turn(SAY_AFTER_MS);
  start(components[2]);
  assert.deepEqual(modules.mounted, components);
});

test("markup and style are inserted once, before the component starts, and stay when data change", async () => {
  const [clock, modules, world] = [page(), failing(0), mounted()];
  const start = starter(modules.load, clock.wait);
  start(world.component);
  await clock.turn(1);
  start(world.component);
  assert.deepEqual([world.part.innerHTML, world.part.nFilled], ["<style></style><p></p>", 1]);
  assert.deepEqual(modules.mounted, [world.component, world.component]);
});
