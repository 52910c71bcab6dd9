import { makeFieldSchema } from '@backstage/plugin-scaffolder-react';
import { createFormField } from '@backstage/plugin-scaffolder-react/alpha';
import { DirectoryPicker, type FieldProps } from './DirectoryPicker';

/** Schema of {@link FieldProps}, for the template editor. */
const schema = makeFieldSchema({
  output: z => z.string(),
  uiOptions: z =>
    z.object({
      namespace: z
        .string()
        .optional()
        .describe(
          'Namespace of the entity reference, as in catalog.providers.directory.namespace. Defaults to default.',
        ),
    }),
});

/** The `DirectoryUserPicker` field. */
export const userPicker = createFormField({
  name: 'DirectoryUserPicker',
  schema,
  component: (props: FieldProps) => <DirectoryPicker {...props} kind="user" />,
});

/** The `DirectoryGroupPicker` field. */
export const groupPicker = createFormField({
  name: 'DirectoryGroupPicker',
  schema,
  component: (props: FieldProps) => <DirectoryPicker {...props} kind="group" />,
});
