/** The payloads Python writes are what the schemas and the generated types say (architecture, law 6). */
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";

import Ajv2020 from "ajv/dist/2020";
import addFormats from "ajv-formats";
import { describe, expect, expectTypeOf, test } from "vitest";

import answer from "../../tests/wire/examples/answer.json";
import citation from "../../tests/wire/examples/citation.json";
import {
  isKnownKind,
  type Answer,
  type Citation,
  type FindRequest,
  type Job,
  type ReplyOf,
  type RequestOf,
  type RetrievalResponse,
  type SearchHit,
  type StreamEvent,
  type WireObjects,
} from "../src/contract";

const root = path.resolve(import.meta.dirname, "../..");
const schemas = path.join(root, "docs/wire-schema/v1");
const examples = path.join(root, "tests/wire/examples");

interface Versioned {
  schema_version: string;
}

function read(folder: string, file: string): unknown {
  return JSON.parse(readFileSync(path.join(folder, file), "utf8"));
}

function files(folder: string, suffix: string): string[] {
  return readdirSync(folder).filter((name) => name.endsWith(suffix));
}

const ajv = new Ajv2020({ strict: true, strictTypes: false, allErrors: true });
addFormats(ajv);
for (const file of files(schemas, ".schema.json")) {
  ajv.addSchema(read(schemas, file) as object);
}

function complaints(schema: string, value: unknown): unknown {
  const validate = ajv.getSchema(`urn:kebab:wire:${schema}`);
  if (validate === undefined) throw new Error(`no schema ${schema}`);
  return validate(value) ? [] : validate.errors;
}

describe("the examples that Python writes", () => {
  const names = files(examples, ".json");

  test("are there", () => {
    expect(names).toContain("retrieval_response.json");
  });

  test.each(names)("%s is valid", (name) => {
    const example = read(examples, name) as Versioned;
    expect(complaints(example.schema_version, example)).toEqual([]);
  });

  test.each(names)("%s without its version is not", (name) => {
    const { schema_version: version, ...rest } = read(examples, name) as Versioned;
    expect(complaints(version, rest)).not.toEqual([]);
  });

  test("may carry fields of a later version", () => {
    expect(complaints("citation.v1", { ...citation, mood: "sunny" })).toEqual([]);
  });

  test("may not lack what the frozen design promises", () => {
    const rest: Partial<typeof answer> = { ...answer };
    delete rest.grounded;
    expect(complaints("answer.v1", rest)).not.toEqual([]);
  });
});

describe("requests", () => {
  const find = "requests.v1#/$defs/FindRequest";

  test("are accepted with only a question", () => {
    expect(complaints(find, { query: "q" })).toEqual([]);
  });

  test.each([{ query: "" }, { query: "q", top_k: 21 }, { query: "q", topK: 3 }, {}])("%j is refused", (request) => {
    expect(complaints(find, request)).not.toEqual([]);
  });
});

describe("the generated types", () => {
  test("know request and reply of every method", () => {
    expectTypeOf<RequestOf<"search/find">>().toEqualTypeOf<FindRequest>();
    expectTypeOf<ReplyOf<"search/find">>().toEqualTypeOf<RetrievalResponse>();
    expectTypeOf<ReplyOf<"library/ingest">>().toEqualTypeOf<Job>();
    expectTypeOf<RetrievalResponse["results"]>().toEqualTypeOf<SearchHit[]>();
  });

  test("tell frozen fields from later additions", () => {
    expectTypeOf<SearchHit["embedding_model"]>().toEqualTypeOf<string | null>();
    expectTypeOf<SearchHit["relevance"]>().toEqualTypeOf<number | null | undefined>();
  });

  test("tell the events of a stream by name", () => {
    expectTypeOf<Extract<StreamEvent, { name: "answer" }>["data"]>().toEqualTypeOf<Answer>();
    expectTypeOf<StreamEvent["name"]>().toEqualTypeOf<"retrieval" | "token" | "claim" | "answer" | "error">();
  });

  test("carry the version of each object as a literal", () => {
    expectTypeOf<WireObjects["citation"]["schema_version"]>().toEqualTypeOf<"citation.v1">();
    expectTypeOf<WireObjects["citation"]>().toEqualTypeOf<Citation>();
  });
});

test("a kind of citation of a later version is not taken for a known one", () => {
  expect(isKnownKind(citation.kind)).toBe(true);
  expect(isKnownKind("hologram")).toBe(false);
  expect(isKnownKind("toString")).toBe(false);
});
