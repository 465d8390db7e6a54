// The first screen of the page for Sonar as a PNG.   node picture.mjs FILE.png
import { open, path, run, start, stop } from "./test/support.mjs";

const file = process.argv[2];
if (!file) throw new Error("usage: node picture.mjs FILE.png");
await start();
try {
  run("select", "sonar", "-k", "1:10", "-o", "selection.json");
  run("select", "sonar", "--method", "eslda", "-k", "1:8", "-o", "optimal.json");
  run("evaluate", "sonar", "--method", "gslda,fisher", "-k", "1:10", "-o", "evaluation.json");
  run("report", "selection.json", "optimal.json", "evaluation.json", "--data", "sonar", "-o", "sonar.html");
  const { page, trouble, close } = await open("sonar.html");
  await page.screenshot({ path: file });
  if (trouble.length) throw new Error(trouble.join("\n"));
  await close();
} finally {
  await stop();
}
