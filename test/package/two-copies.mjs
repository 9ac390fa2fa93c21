// An application that installs one copy of the package, and a module of it that was written against another.
import 'reflect-metadata';
import { Container, decorate, inject, injectable } from 'inversify';
import * as own from 'inversify-ai';
import { call, scriptedModel, text } from 'inversify-ai/testing';
import * as other from 'other/node_modules/inversify-ai/dist/index.js';

class Caller {}
class Tools {
  who(id) {
    return id;
  }
}
const describe = (target, key) => Object.getOwnPropertyDescriptor(target, key);
other.FromScope(Caller, ({ id }) => id)(Tools.prototype, 'who', 0);
other.ReadOnly(Tools.prototype, 'who', describe(Tools.prototype, 'who'));
other.AITool('Says who')(Tools.prototype, 'who', describe(Tools.prototype, 'who'));
decorate(injectable(), Tools);
class Desk {
  constructor(agent, scope) {
    Object.assign(this, { agent, scope });
  }
}
other.AI({ tools: [Tools], toolGroup: own.ReadOnly })(Desk, undefined, 0);
decorate(inject(other.AIScope), Desk, 1);
decorate(injectable(), Desk);

const heard = [];
class Audit extends other.AIObserver {
  toolEnded({ tool, result }) {
    heard.push(`${tool}: ${result}`);
  }
}
const container = new Container();
container.bind(Tools).toSelf();
container.bind(Desk).toSelf();
container.bind(other.AIObserver).toConstantValue(new Audit());
const model = () => scriptedModel([call('Tools_who'), text('done')]);
const ai = own.installAI(container, { model: model() });
ai.verify();
const as = (id) => (scope) => {
  scope.bind(Caller).toConstantValue({ id });
};
const ask = async (scope) => {
  const { agent, scope: injected } = scope.container.get(Desk);
  return `${await agent.chat('q')} ${injected === scope} ${injected instanceof own.AIScope}`;
};
const lines = [other.AIObserver === own.AIObserver, await ai.runInScope(as('alice'), ask)];
lines.push(
  await ai.runInScope((scope) => {
    as('bob')(scope);
    scope.bind(other.ChatModel).toConstantValue(model());
  }, ask),
);
// The other copy knows whose turn it is, and refuses what this one refuses.
const kept = await ai.runInScope(as('alice'), (scope) => scope.container.get(Desk).agent);
lines.push(
  await kept
    .chat('q')
    .catch((error) => `${error.name} ${error instanceof other.AIError} ${error.message.split('. ')[0]}`),
);
try {
  other.installAI(container, {});
} catch (error) {
  lines.push(error.message);
}
console.log([...lines, ...heard].join('\n'));
