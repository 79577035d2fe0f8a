// Prints the report of the WebAssembly build, as the native program does.
// Usage: node wasm.mjs FILE.wasm
import { readFile } from "node:fs/promises";

const { instance } = await WebAssembly.instantiate(await readFile(process.argv[2]), {});
const bytes = [];
for (let byte; (byte = instance.exports.report_byte(bytes.length)) !== 0; ) bytes.push(byte);
process.stdout.write(String.fromCharCode(...bytes));
