-- Passages as vectors of a model of embeddings, each of length 1, and how far each source is.

create table knowledge_vectors (
  source_id text not null,
  revision integer not null,
  position integer not null,
  model text not null,
  embedding real[] not null,
  primary key (source_id, revision, position),
  foreign key (source_id, revision, position)
    references knowledge_chunks (source_id, revision, position) on delete cascade
);

-- `embedding_due`: when a gateway takes it up next; infinity: all its passages are vectors of `embedded_model`.
alter table knowledge_revisions
  add column embedded_model text,
  add column embedding_due timestamptz not null default now(),
  add column embedding_failures integer not null default 0;

create index knowledge_revisions_due on knowledge_revisions (embedding_due);
