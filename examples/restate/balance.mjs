// Stands in for a load balancer: balance.mjs PORT BACKEND... A connection goes to one of the backends that answers.
import net from "node:net";

const [port, ...backends] = process.argv.slice(2).map(Number);

const connect = (client, left) => {
  if (left.length === 0) return client.destroy();
  const [one] = left.splice(Math.floor(Math.random() * left.length), 1);
  const server = net.connect(one, "127.0.0.1");
  server.once("error", () => connect(client, left));
  server.once("connect", () => {
    server.removeAllListeners("error");
    for (const [from, to] of [[client, server], [server, client]]) {
      from.on("error", () => to.destroy());
      from.on("close", () => to.destroy());
      from.pipe(to);
    }
  });
};
net.createServer((client) => connect(client, [...backends])).listen(port, "127.0.0.1");
