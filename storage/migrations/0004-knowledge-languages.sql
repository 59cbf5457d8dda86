-- The language of a source's text, by whose dictionary its words are kept; null: the words are English ones, whatever the text is,
-- as the previous release keeps them. The gateway keeps these again, one after the other.

alter table knowledge_revisions add column language text;

create index knowledge_revisions_unread on knowledge_revisions (source_id, revision) where language is null;
