import type { OpenAPIV3_1 } from 'openapi-types';

type Document = OpenAPIV3_1.Document;
type Schema = OpenAPIV3_1.SchemaObject;
type Reference = OpenAPIV3_1.ReferenceObject;
type Parameter = OpenAPIV3_1.ParameterObject;
/** The types of OpenAPI 3.1 take it from 3.0, where it is narrower. */
type ParameterSchema = Parameter['schema'];
type Operation = OpenAPIV3_1.OperationObject;
type Named<T> = readonly (readonly [string, T])[];

const nullableText: Schema = { type: ['string', 'null'] };
const date: Schema = { type: 'string', format: 'date-time' };

/** What the reference shows in ways of its own, by record. */
const OWN_PROPERTIES: Readonly<Record<string, Record<string, Schema>>> = {
  User: {
    website: {
      ...nullableText,
      description: 'The first of `websites`.',
    },
    rssurl: { ...nullableText, description: 'The first of `rssurls`.' },
    creation: {
      type: ['string', 'null'],
      format: 'date-time',
      description: 'When the account was created, in UTC.',
    },
  },
  Certificate: {
    certificate: {
      type: 'string',
      description: 'The certificate in DER, base64-encoded on one line.',
    },
    revoked: {
      type: ['boolean', 'null'],
      description: 'null of a certificate that was just signed.',
    },
    valid_not_before: date,
    valid_not_after: date,
  },
};

/**
 * The operations of the contract without its extensions, and the records that
 * they answer with, as the reference describes its own: what a client sends is
 * in the query, every key may be missing, for a mask may have left it out, and
 * nothing is limited.
 */
export class FasjsonOperations {
  readonly #contract: Document;
  readonly #records = new Set<string>();

  constructor(contract: Document) {
    this.#contract = contract;
  }

  /** The operations by their paths. */
  paths(): OpenAPIV3_1.PathsObject {
    const items = Object.entries(this.#contract.paths ?? {}).map(
      ([path, item]) => [path, this.#pathItem(item ?? {})] as const,
    );
    return Object.fromEntries(
      items.filter(([, item]) => Object.keys(item).length > 0),
    );
  }

  /** The records that {@link paths} has named, by their names. */
  records(): Record<string, Schema> {
    const records = [...this.#records].map(name => [
      name,
      { type: 'object', properties: this.#record(name) },
    ]);
    return Object.fromEntries(records);
  }

  #pathItem(item: OpenAPIV3_1.PathItemObject): OpenAPIV3_1.PathItemObject {
    const operations = (['get', 'post'] as const).flatMap(method => {
      const operation = item[method];
      return operation && !isExtension(operation)
        ? [[method, this.#operation(operation, item.parameters ?? [])]]
        : [];
    });
    return Object.fromEntries(operations);
  }

  #operation(
    operation: Operation,
    ofPath: readonly (Parameter | Reference)[],
  ): Operation {
    const { operationId, summary, tags, parameters = [] } = operation;
    const responses = Object.entries(operation.responses ?? {}).map(
      ([status, response]) => {
        const { description, content } = this.#follow(response);
        const shapes = content?.['application/json']?.schema;
        return [
          status,
          status === '200'
            ? answer(description, this.#envelope(shapes!))
            : { description },
        ];
      },
    );
    return {
      ...{ operationId, summary, tags },
      parameters: [...ofPath, ...parameters, ...this.#bodyParameters(operation)]
        .map(parameter => this.#follow(parameter))
        .filter(parameter => !isExtension(parameter))
        .map(parameter => this.#parameter(parameter)),
      responses: Object.fromEntries(responses),
    };
  }

  /** Clients of the reference send what a POST says in its query. */
  #bodyParameters({ requestBody }: Operation): readonly Parameter[] {
    const body = requestBody && this.#follow(requestBody);
    const schema =
      body && this.#follow(body.content['application/json'].schema!);
    return this.#properties(schema ?? {}).map(([name, property]) => ({
      ...{ name, in: 'query', schema: property as ParameterSchema },
      description: property.description,
      required: schema!.required?.includes(name),
    }));
  }

  #parameter(parameter: Parameter): Parameter {
    const { name, in: where, description, required } = parameter;
    const { type, items } = this.#follow(parameter.schema!) as Schema & {
      items?: Schema;
    };
    return {
      ...{ name, in: where, description, required },
      // Limits are the API's to tell: a client that refuses by itself would
      // not get the reference's errors.
      schema: {
        type,
        ...(items && { items: { type: items.type } }),
        ...(name === 'X-Fields' && { format: 'mask' }),
      } as ParameterSchema,
    };
  }

  #envelope(shapes: Schema | Reference): Schema {
    const names = referencesIn(shapes);
    const masked = names.find(name => name.includes('Masked')) ?? names[0];
    const schema = this.#schemaNamed(masked);
    const result = schema.properties!.result as Schema | Reference;
    return {
      type: 'object',
      required: ['result'],
      properties: {
        result: this.#result(result),
        ...(schema.allOf && { page: { $ref: '#/components/schemas/Page' } }),
      },
    };
  }

  #result(result: Schema | Reference): Schema | Reference {
    if ('$ref' in result) {
      const record = nameOf(result).replace('Masked', '');
      this.#records.add(record);
      return { $ref: `#/components/schemas/${record}` };
    }
    return result.type === 'array'
      ? { type: 'array', items: this.#result(result.items) }
      : { type: result.type };
  }

  #record(name: string): Record<string, Schema> {
    const schema = this.#schemaNamed(`Masked${name}`);
    const excluded = new Set(
      (schema.not as Schema | undefined)?.required ?? [],
    );
    const isUser = this.#properties(schema).some(([key]) => key === 'emails');
    const properties = this.#properties(schema)
      .filter(([key]) => !excluded.has(key))
      .map(([key, property]) => [key, withoutLimits(property)]);
    return {
      ...Object.fromEntries(properties),
      ...OWN_PROPERTIES[isUser ? 'User' : name],
    };
  }

  /** Every property of a schema and of those it consists of. */
  #properties(schema: Schema): Named<Schema> {
    const inherited = (schema.allOf ?? []).flatMap(part =>
      this.#properties(this.#follow(part)),
    );
    const own = Object.entries(schema.properties ?? {}).map(
      ([name, property]): [string, Schema] => [
        name,
        this.#inline(property as Schema | Reference),
      ],
    );
    return [...inherited, ...own].filter(
      ([, property]) => !isExtension(property),
    );
  }

  #inline(property: Schema | Reference): Schema {
    const schema = this.#follow(property) as Schema & {
      items?: Schema | Reference;
    };
    return schema.items
      ? ({ ...schema, items: this.#inline(schema.items) } as Schema)
      : schema;
  }

  #schemaNamed(name: string): Schema {
    return this.#contract.components!.schemas![name] as Schema;
  }

  #follow<T extends object>(value: T | Reference): T {
    if (!('$ref' in value)) {
      return value;
    }
    const target = value.$ref
      .split('/')
      .slice(1)
      .reduce<unknown>(
        (parent, key) => (parent as Record<string, unknown>)[key],
        this.#contract,
      );
    return this.#follow(target as T | Reference);
  }
}

function answer(
  description: string,
  schema: Schema,
): OpenAPIV3_1.ResponseObject {
  return { description, content: { 'application/json': { schema } } };
}

function isExtension(value: object): boolean {
  return 'x-extension' in value;
}

function referencesIn(schema: Schema | Reference): readonly string[] {
  return '$ref' in schema
    ? [nameOf(schema)]
    : (schema.anyOf ?? []).flatMap(referencesIn);
}

function nameOf({ $ref }: Reference): string {
  return $ref.split('/').at(-1)!;
}

/** The type alone: what the API sends is its own to warrant. */
function withoutLimits(schema: Schema): Schema {
  const { type, description, format } = schema;
  const { items } = schema as { items?: Schema };
  return {
    type,
    ...(description && { description }),
    ...(format && format !== 'bigint' && { format }),
    ...(items && { items: withoutLimits(items) }),
  } as Schema;
}
